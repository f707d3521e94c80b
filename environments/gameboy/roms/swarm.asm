; Forty objects that decide where they go, for a processor that works most of its time: the code of each of four kinds is in
; a bank of its own, every object looks at the four that follow it, and is moved by parts of a pixel.

title "LOCKSTEP SWARM"
cartridge "mbc1"
romsize 128

include "hardware.inc"
include "common.inc"
include "objects.inc"
include "random.inc"

def OBJECTS equ 40
def LOOKS_AT equ 4
def NEAR equ 8              ; pixels within which two of them meet
def FASTEST equ 24          ; in 64ths of a pixel, of those that follow
def ROM_BANK equ $2000
def THINK equ $4000         ; in each bank: what a kind does. C: the object; DE, HL and A are its own.
def SINE equ $4100

section "results", wram[$C004]
wMet:     ds 2              ; pairs that were near each other, over all frames
wMeeting: ds 1              ; the same in the last frame
wLine:    ds 1              ; LY when a frame's work was done
wRandom:  ds 2
wVBlank:  ds 1

; An object's number is the lower half of its addresses.
section "x", wram[$C100]
wX: ds OBJECTS
section "y", wram[$C200]
wY: ds OBJECTS
section "dx", wram[$C300]
wDx: ds OBJECTS             ; signed, in 64ths of a pixel for each frame
section "dy", wram[$C400]
wDy: ds OBJECTS
section "x parts", wram[$C500]
wXPart: ds OBJECTS          ; in 256ths of a pixel
section "y parts", wram[$C600]
wYPart: ds OBJECTS

section "vblank", rom0[$0040]
    jp VBlank

section "main", rom0
Start:
    clean_start
    call DmaSetup
    copy_tiles TILE_DATA
    clear_map
    call Scatter
    xor a
    ldh [rSCX], a
    ldh [rSCY], a
    ldh [rIF], a
    ld a, %11100100
    ldh [rBGP], a
    ldh [rOBP0], a
    ld a, VBLANK_INT
    ldh [rIE], a
    ld a, LCD_ON | TILES_8000 | OBJECTS_ON | BACKGROUND
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
    ld [wMeeting], a
    ld c, a
.object:
    call Think
    call Move
    call LookAround
    call Place
    inc c
    ld a, c
    cp OBJECTS
    jr nz, .object
    ldh a, [rLY]
    ld [wLine], a
    call CountFrame
FrameDone:
    jr Main

VBlank:
    push af
    push bc
    push de
    push hl
    ld a, high(wObjects)
    call hDma
    ld a, 1
    ld [wVBlank], a
    pop hl
    pop de
    pop bc
    pop af
    reti

; Places and speeds by chance; half a pixel for each frame at most.
Scatter:
    ld c, 0
.object:
    ld l, c
    ld h, high(wX)
    call Random
    ld [hl], a
    inc h
    call Random
    ld [hl], a
    inc h
    call .speed
    inc h
    call .speed
    inc c
    ld a, c
    cp OBJECTS
    jr nz, .object
    ret
.speed:
    call Random
    and $3F
    sub $20
    ld [hl], a
    ret
    assert high(wY) == high(wX) + 1 && high(wDx) == high(wX) + 2 && high(wDy) == high(wX) + 3, "one page after the other"

; The kind is the number's lower two bits, and its bank one more.
Think:
    ld a, c
    and 3
    inc a
    ld [ROM_BANK], a
    jp THINK

; Both coordinates, by four times their speed in 256ths. Beyond 255 the other side follows.
Move:
    ld l, c
    ld h, high(wDx)
    ld e, [hl]
    ld h, high(wXPart)
    ld b, high(wX)
    call .one
    ld l, c
    ld h, high(wDy)
    ld e, [hl]
    ld h, high(wYPart)
    ld b, high(wY)
.one:
    ; DE = 4 * E, signed
    ld a, e
    rla
    sbc a
    ld d, a
    sla e
    rl d
    sla e
    rl d
    ld a, [hl]
    add e
    ld [hl], a
    ld h, b
    ld a, [hl]
    adc d
    ld [hl], a
    ret

; How many of the next objects are near.
LookAround:
    ld b, LOOKS_AT
    ld e, c
.next:
    inc e
    ld a, e
    cp OBJECTS
    jr c, .known
    sub OBJECTS
    ld e, a
.known:
    ld h, high(wX)
    call Distance
    cp NEAR
    jr nc, .far
    ld h, high(wY)
    call Distance
    cp NEAR
    jr nc, .far
    ld hl, wMeeting
    inc [hl]
    ld hl, wMet
    inc [hl]
    jr nz, .far
    inc hl
    inc [hl]
.far:
    dec b
    jr nz, .next
    ret

; A = how far the objects C and E are from each other on the page H. Keeps BC and DE.
Distance:
    ld l, c
    ld a, [hl]
    ld l, e
    sub [hl]
    bit 7, a
    ret z
    cpl
    inc a
    ret

; Into the table that DMA copies.
Place:
    ld a, c
    add a
    add a
    ld e, a
    ld d, high(wObjects)
    ld l, c
    ld h, high(wY)
    ld a, [hl]
    ld [de], a
    inc e
    ld h, high(wX)
    ld a, [hl]
    ld [de], a
    inc e
    ld a, c
    and 3
    inc a
    ld [de], a
    inc e
    xor a
    ld [de], a
    ret

Tiles:
rept 8
    dw `........
endr
rept 8
    dw `11111111
endr
rept 8
    dw `22222222
endr
rept 8
    dw `33333333
endr
rept 8
    dw `12312312
endr
TilesEnd:

; --- Kind 0 goes up and down in waves: its speed is the sine at its own place in the table.
section "waves", romx[THINK], bank[1]
    ld a, c
    add a
    add c
    add a
    ld hl, wFrames
    add [hl]
    ld h, high(SINE)
    ld l, a
    ld a, [hl]
    ld l, c
    ld h, high(wDy)
    ld [hl], a
    ret
section "sine", romx[SINE], bank[1]
; One turn by a parabola for each half: 31 at most.
def AT = 0
rept 128
    db (AT * (128 - AT)) / 132
def AT = AT + 1
endr
def AT = 0
rept 128
    db low(-(AT * (128 - AT)) / 132)
def AT = AT + 1
endr

; --- Kind 1 keeps its way, and makes a random number for nothing.
section "straight", romx[THINK], bank[2]
    jp Random

; --- Kind 2 turns: each of its speeds gets an eighth of the other.
section "turning", romx[THINK], bank[3]
    ld l, c
    ld h, high(wDy)
    ld a, [hl]
    call .eighth
    ld d, a
    ld h, high(wDx)
    ld a, [hl]
    sub d
    ld [hl], a
    call .eighth
    ld h, high(wDy)
    add [hl]
    ld [hl], a
    ret
.eighth:
    sra a
    sra a
    sra a
    ret

; --- Kind 3 follows the object that comes next.
section "following", romx[THINK], bank[4]
    ld a, c
    inc a
    cp OBJECTS
    jr c, .known
    xor a
.known:
    ld e, a
    ld h, high(wX)
    ld d, high(wDx)
    call .faster
    ld h, high(wY)
    ld d, high(wDy)
.faster:
    ; One more or one less towards E, on the page H, for the speed on the page D.
    ld l, e
    ld a, [hl]
    ld l, c
    sub [hl]
    ld h, d
    ret z
    rla
    ld a, [hl]
    jr c, .less
    inc a
    cp FASTEST + 1
    ret z
    ld [hl], a
    ret
.less:
    dec a
    cp low(-FASTEST - 1)
    ret z
    ld [hl], a
    ret
