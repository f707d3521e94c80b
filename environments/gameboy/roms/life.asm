; Conway's Life on 20 by 18 cells, for a processor that works most of its time, as in games that look far ahead: six rows of
; the next generation in each frame, shown in the blank that follows. A fifth of the frame is slept through.

title "LOCKSTEP LIFE"
cartridge "rom"
romsize 32

include "hardware.inc"
include "common.inc"
include "random.inc"

def COLUMNS equ 20
def ROWS equ 18
def AT_ONCE equ 6           ; rows in a frame
def PITCH equ 32            ; bytes from a row to the next, around which nothing lives
def OTHER equ $0C           ; what turns a board's page into the same one of the other board
def SOW_AGAIN equ $7F       ; so many generations and one later everything begins anew

section "results", wram[$C004]
wGenerations: ds 2          ; those that are finished
wAlive:       ds 2          ; the cells that live in the newest one
wFrom:        ds 1          ; the page of the board that holds it
wRow:         ds 1          ; of the one that is being made, the row that comes next
wLine:        ds 1          ; LY when a frame's work was done
wRandom:      ds 2
wCounted:     ds 2          ; what lives in the rows that are made
wVBlank:      ds 1
wShow:        ds 2          ; where the rows are that were made last, and where they are shown
wShowAt:      ds 2

section "one board", wram[$C400]
wOne: ds PITCH * (ROWS + 2)
section "the other board", wram[$C800]
wTwo: ds PITCH * (ROWS + 2)
    assert high(wOne) ^ OTHER == high(wTwo) && low(wOne) == 0 && low(wTwo) == 0, "one page leads to the other"

section "vblank", rom0[$0040]
    push af
    ld a, 1
    ld [wVBlank], a
    pop af
    reti

section "main", rom0
Start:
    clean_start
    copy_tiles TILE_DATA
    clear_map
    ld a, high(wOne)
    ld [wFrom], a
    call Sow
    ld hl, wOne + PITCH + 1
    call Remember
    xor a
    ldh [rSCX], a
    ldh [rSCY], a
    ldh [rIF], a
    ld a, %11100100
    ldh [rBGP], a
    ld a, VBLANK_INT
    ldh [rIE], a
    ld a, LCD_ON | TILES_8000 | BACKGROUND
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
    call ShowRows
    call Grow
    ldh a, [rLY]
    ld [wLine], a
    call CountFrame
    jr Main

; Every cell of the newest board lives or not, by chance.
Sow:
    ld a, [wFrom]
    ld h, a
    ld l, PITCH + 1
    ld b, ROWS
.row:
    ld c, COLUMNS
.cell:
    call Random
    and 1
    ld [hl+], a
    dec c
    jr nz, .cell
    ld de, PITCH - COLUMNS
    add hl, de
    dec b
    jr nz, .row
    ret

; The next rows, and with the last of them a generation.
Grow:
    ld a, [wRow]
    ; HL = the first cell of the row, in the newest board
    inc a
    ld l, a
    ld h, 0
    add hl, hl
    add hl, hl
    add hl, hl
    add hl, hl
    add hl, hl
    inc l
    ld a, [wFrom]
    add h
    ld h, a
    push hl
    ld b, AT_ONCE
.row:
    push bc
    ld b, COLUMNS
.cell:
    call Neighbours
    ; It lives with three, and with two if it lived before.
    cp 3
    jr z, .live
    cp 2
    ld a, 0
    jr nz, .write
    ld a, [hl]
    jr .write
.live:
    ld a, 1
.write:
    ld c, a
    ld a, h
    xor OTHER
    ld h, a
    ld [hl], c
    xor OTHER
    ld h, a
    inc hl
    call CountCell
    dec b
    jr nz, .cell
    ld de, PITCH - COLUMNS
    add hl, de
    pop bc
    dec b
    jr nz, .row
    pop hl
    ld a, h
    xor OTHER
    ld h, a
    call Remember
    ld a, [wRow]
    add AT_ONCE
    ld [wRow], a
    cp ROWS
    ret nz

; All rows are made: the other board is the newest one.
Finish:
    xor a
    ld [wRow], a
    ld a, [wFrom]
    xor OTHER
    ld [wFrom], a
    ld hl, wCounted
    ld a, [hl+]
    ld [wAlive], a
    ld a, [hl]
    ld [wAlive + 1], a
    xor a
    ld [hl-], a
    ld [hl], a
    ld hl, wGenerations
    inc [hl]
    jr nz, .low
    inc hl
    inc [hl]
.low:
    ld a, [wGenerations]
    and SOW_AGAIN
    jp z, Sow
    ret

; A = how many of the eight cells around HL live. Keeps BC and HL.
Neighbours:
    push hl
    ld de, -PITCH - 1
    add hl, de
    ld a, [hl+]
    add [hl]
    inc hl
    add [hl]
    ld de, PITCH - 2
    add hl, de
    add [hl]
    inc hl
    inc hl
    add [hl]
    ld de, PITCH - 2
    add hl, de
    add [hl]
    inc hl
    add [hl]
    inc hl
    add [hl]
    pop hl
    ret

; C more live. Keeps BC and HL.
CountCell:
    ld a, [wCounted]
    add c
    ld [wCounted], a
    ret nc
    ld a, [wCounted + 1]
    inc a
    ld [wCounted + 1], a
    ret

; HL: the first cell of rows to be shown in the next blank.
Remember:
    ld a, l
    ld [wShow], a
    ld a, h
    ld [wShow + 1], a
    ld a, [wRow]
    ld l, a
    ld h, 0
    add hl, hl
    add hl, hl
    add hl, hl
    add hl, hl
    add hl, hl
    ld de, MAP_0
    add hl, de
    ld a, l
    ld [wShowAt], a
    ld a, h
    ld [wShowAt + 1], a
    ret

; In the blank, of which it takes two thirds.
ShowRows:
    ld hl, wShow
    ld a, [hl+]
    ld e, a
    ld a, [hl+]
    ld d, a
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    ld b, AT_ONCE
.row:
rept COLUMNS
    ld a, [de]
    inc e
    ld [hl+], a
endr
    push bc
    ld bc, PITCH - COLUMNS
    add hl, bc
    ld a, e
    add PITCH - COLUMNS
    ld e, a
    jr nc, .page
    inc d
.page:
    pop bc
    dec b
    jr nz, .row
    ret

Tiles:
rept 8
    dw `........
endr
    dw `.222222.
    dw `23333332
    dw `23333332
    dw `23333332
    dw `23333332
    dw `23333332
    dw `23333332
    dw `.222222.
TilesEnd:
