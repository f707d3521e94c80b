; Forty objects that move through the screen and past all its edges, with DMA in every frame. Every 128 frames the next of
; eight arrangements: 8x8 or 8x16, twenty of them on one line, without background, without objects. In the last one a
; second DMA in the middle of the frame puts forty others into its lower half.

title "LOCKSTEP SPRITES"
cartridge "rom"
romsize 32

include "hardware.inc"
include "common.inc"
include "objects.inc"
include "random.inc"

def OBJECTS equ 40
def IN_A_ROW equ 20
def ROW_Y equ 90
def FRAMES_LOG2 equ 7       ; how long an arrangement lasts
def SPLIT_LINE equ 70
def SPLIT_PHASE equ 7

section "results", wram[$C004]
wCopies:    ds 2    ; how often DMA has run
wPhase:     ds 1    ; 0 to 7
wLcdc:      ds 1    ; what this phase has in LCDC
wKinds:     ds 1    ; the attributes' upper bits that were ever shown, or-ed
wRandom:    ds 2
wVBlank:    ds 1    ; 1: a frame has ended and was not worked on yet
wSplits:    ds 2    ; DMA copies in the middle of a frame

section "speeds", wram[$C100]
wSpeeds: ds 2 * OBJECTS     ; 40 times: dy, dx

section "others", wram[$DE00]
wOthers: ds 4 * OBJECTS     ; the objects of the lower half, in the phase that has them

section "vblank", rom0[$0040]
    jp VBlank

section "stat", rom0[$0048]
    jp Split

section "main", rom0
Start:
    clean_start
    call DmaSetup
    copy_tiles TILE_DATA
    call DrawBackground
    call Scatter
    ld a, %11100100
    ldh [rBGP], a
    ldh [rOBP0], a
    ld a, %00011011
    ldh [rOBP1], a
    xor a
    ldh [rSCX], a
    ldh [rSCY], a
    ldh [rIF], a
    ld a, SPLIT_LINE
    ldh [rLYC], a
    ld a, ON_LYC
    ldh [rSTAT], a
    ld a, VBLANK_INT | STAT_INT
    ldh [rIE], a
    call ChoosePhase
    ld a, [wLcdc]
    ldh [rLCDC], a
    ei

Main:
    halt
    nop
    ld a, [wVBlank]
    and a
    jr z, Main
    xor a
    ld [wVBlank], a
    call Move
    call ChangeOne
    call LineUp
    call Mirror
    call ChoosePhase
    jr Main

VBlank:
    push af
    push bc
    push de
    push hl
    ld a, [wLcdc]
    ldh [rLCDC], a
    ld a, high(wObjects)
    call hDma
    call CountFrame
    ld hl, wCopies
    inc [hl]
    jr nz, .low
    inc hl
    inc [hl]
.low:
    call CheckCopy
    ld a, 1
    ld [wVBlank], a
    pop hl
    pop de
    pop bc
    pop af
    reti

; In the middle of the frame: while the lines go on, OAM takes other objects.
Split:
    push af
    ld a, [wPhase]
    cp SPLIT_PHASE
    jr nz, .done
    push hl
    ld hl, wSplits
    inc [hl]
    jr nz, .low
    inc hl
    inc [hl]
.low:
    pop hl
    ld a, high(wOthers)
    call hDma
.done:
    pop af
    reti

; The others are the objects seen in two mirrors: left is right, and up is down.
Mirror:
    ld hl, wObjects
    ld de, wOthers
    ld b, OBJECTS
.next:
    ld a, 168
    sub [hl]
    ld [de], a
    inc l
    inc e
    ld a, 168
    sub [hl]
    ld [de], a
    inc l
    inc e
    ld a, [hl+]
    ld [de], a
    inc e
    ld a, [hl+]
    xor $60
    ld [de], a
    inc e
    dec b
    jr nz, .next
    ret
    assert low(wOthers) == 0 && low(wObjects) == 0, "both are a page's beginning"

; Did the last bytes of OAM arrive? (All of them would not fit into VBlank together with the rest.)
CheckCopy:
    ld hl, wObjects + 128
    ld de, $FE80
    ld b, 32
.next:
    ld a, [de]
    cp [hl]
    jr nz, .differs
    inc l
    inc e
    dec b
    jr nz, .next
    ret
.differs:
    ld a, 1
    jp Failed

; The phase is three bits of the frame's number.
ChoosePhase:
    ld a, [wFrames]
    rlca
    and 1
    ld b, a
    ld a, [wFrames + 1]
    add a
    or b
    and 7
    ld [wPhase], a
    ld hl, Phases
    add l
    ld l, a
    jr nc, .page
    inc h
.page:
    ld a, [hl]
    ld [wLcdc], a
    ret
    assert FRAMES_LOG2 == 7, "one bit of the low byte, the rest of the high byte"

def USUAL equ LCD_ON | TILES_8000 | OBJECTS_ON | BACKGROUND
Phases:
    db USUAL
    db USUAL | OBJECTS_TALL
    db USUAL                    ; in a row, see LineUp
    db USUAL | OBJECTS_TALL     ; in a row
    db USUAL - BACKGROUND
    db USUAL - OBJECTS_ON
    db USUAL | OBJECTS_TALL     ; in a row
    db USUAL - BACKGROUND + OBJECTS_TALL
InARow:
    db %01001100                ; one bit a phase

; Positions, attributes and speeds at random; no object stands still.
Scatter:
    ld de, wObjects
    ld hl, wSpeeds
    ld b, OBJECTS
.next:
    call Random
    ld [de], a
    inc e
    call Random
    ld [de], a
    inc e
    call Random
    and 7
    add 4
    ld [de], a
    inc e
    call Random
    and $F0
    ld [de], a
    inc e
    call Speed
    ld [hl+], a
    call Speed
    ld [hl+], a
    dec b
    jr nz, .next
    ret

; -3 to 4 without 0, in A.
Speed:
    call Random
    and 7
    sub 3
    ret nz
    inc a
    ret

; Positions wrap at 256: an object leaves at one edge, is nowhere for a while, and returns at the other.
Move:
    ld de, wObjects
    ld hl, wSpeeds
    ld b, OBJECTS
.next:
    ld a, [de]
    add [hl]
    ld [de], a
    inc hl
    inc e
    ld a, [de]
    add [hl]
    ld [de], a
    inc hl
    inc e
    inc e
    inc e
    dec b
    jr nz, .next
    ret

; One object a frame takes the next of the sixteen kinds: both palettes, flips, behind the background.
ChangeOne:
    ld a, [wFrames]
    and $3F
    cp OBJECTS
    ret nc
    add a
    add a
    add 3
    ld l, a
    ld h, high(wObjects)
    ld a, [hl]
    add $10
    ld [hl], a
    ld hl, wKinds
    or [hl]
    ld [hl], a
    ret

; In some phases the first twenty objects share a line, of which a line can show ten.
LineUp:
    ld a, [wPhase]
    ld b, a
    inc b
    ld a, [InARow]
.shift:
    rrca
    dec b
    jr nz, .shift
    ret nc
    ld hl, wObjects
    ld b, IN_A_ROW
.next:
    ld [hl], ROW_Y
    ld a, l
    add 4
    ld l, a
    dec b
    jr nz, .next
    ret

; Diagonals of the four background tiles, so that objects behind it vanish in parts.
DrawBackground:
    ld hl, MAP_0
    ld b, 32
.row:
    ld c, 32
.cell:
    ld a, b
    add c
    rrca
    and 3
    ld [hl+], a
    dec c
    jr nz, .cell
    dec b
    jr nz, .row
    ret

section "tiles", rom0
Tiles:
    ; 0: nothing
    ds 16, 0
    ; 1: dots
    dw `1.......
    dw `....2...
    dw `........
    dw `..1.....
    dw `......3.
    dw `........
    dw `.2......
    dw `.....1..
    ; 2: stripes
    dw `111.....
    dw `.111....
    dw `..111...
    dw `...111..
    dw `....111.
    dw `.....111
    dw `1.....11
    dw `11.....1
    ; 3: full
    dw `22222222
    dw `21111112
    dw `21....12
    dw `21.33.12
    dw `21.33.12
    dw `21....12
    dw `21111112
    dw `22222222
    ; 4 and 5: an arrow up and its shaft (a pair, as 8x16 takes them)
    dw `...33...
    dw `..3223..
    dw `.321123.
    dw `32111123
    dw `33311333
    dw `..3113..
    dw `..3113..
    dw `..3113..
    dw `..3113..
    dw `..3123..
    dw `..3123..
    dw `..3123..
    dw `..3223..
    dw `..3223..
    dw `..3333..
    dw `........
    ; 6 and 7: a flag
    dw `3.......
    dw `3333....
    dw `32223333
    dw `32112223
    dw `31111113
    dw `33331113
    dw `3...3333
    dw `3.......
    dw `3.......
    dw `3.......
    dw `3.......
    dw `3.......
    dw `3.......
    dw `33......
    dw `333.....
    dw `3333....
    ; 8 and 9: a corner
    dw `11111111
    dw `12222222
    dw `1233....
    dw `123.....
    dw `12......
    dw `12......
    dw `12......
    dw `12......
    dw `12......
    dw `12......
    dw `12......
    dw `12......
    dw `12......
    dw `1.......
    dw `1.......
    dw `1.......
    ; 10 and 11: a ring
    dw `..3333..
    dw `.322223.
    dw `32....23
    dw `32....23
    dw `32....23
    dw `32....23
    dw `.322223.
    dw `..3333..
    dw `..1111..
    dw `.122221.
    dw `12....21
    dw `12....21
    dw `12....21
    dw `12....21
    dw `.122221.
    dw `..1111..
TilesEnd:
