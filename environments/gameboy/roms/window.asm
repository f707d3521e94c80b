; What writes in the middle of a frame do: scrolling, window, palettes, maps and tile data, changed by STAT interrupts
; (LYC, mode 0, mode 2) line by line, and the display switched off and on. Seven phases of 64 frames, over and over.

title "LOCKSTEP WINDOW"
cartridge "rom"
romsize 32

include "hardware.inc"
include "common.inc"
include "font.inc"

section "results", wram[$C004]
wPhase:    ds 1     ; 0 to 6
wHits:     ds 1     ; STAT interrupts since the frame began
wLastHits: ds 1     ; and in the whole frame before
wOffs:     ds 1     ; how often the display was switched off
wNext:     ds 2     ; where the phase's list goes on
wHandler:  ds 2     ; what STAT jumps to
wVBlank:   ds 1
wWindowX:  ds 1
wWindowY:  ds 1

section "vblank", rom0[$0040]
    jp VBlank

section "stat", rom0[$0048]
    push af
    push bc
    push hl
    ld hl, wHandler
    jr Stat

section "stat goes on", rom0[$0068]
Stat:
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    jp hl

def PHASES equ 7

section "main", rom0
Start:
    clean_start
    call DrawTiles
    call DrawMaps
    xor a
    ldh [rIF], a
    ld a, VBLANK_INT | STAT_INT
    ldh [rIE], a
    call BeginFrame
    ei

Main:
    halt
    nop
    ld a, [wVBlank]
    and a
    jr z, Main
    xor a
    ld [wVBlank], a
    ld a, [wPhase]
    cp 6
    call z, Blink
    jr Main

VBlank:
    push af
    push bc
    push de
    push hl
    ld a, [wHits]
    ld [wLastHits], a
    call CountFrame
    call CountPhase
    call BeginFrame
    ld a, 1
    ld [wVBlank], a
    pop hl
    pop de
    pop bc
    pop af
    reti

; A new phase every 64 frames.
CountPhase:
    ld a, [wFrames]
    and $3F
    ret nz
    ld hl, wPhase
    inc [hl]
    ld a, [hl]
    cp PHASES
    ret nz
    ld [hl], 0
    ret

; All registers as every frame begins with them, then the phase's own.
BeginFrame:
    xor a
    ld [wHits], a
    ldh [rSTAT], a
    ldh [rSCX], a
    ldh [rSCY], a
    ld a, 7
    ldh [rWX], a
    ld a, 144
    ldh [rWY], a
    ld a, %11100100
    ldh [rBGP], a
    ld a, LCD_ON | TILES_8000 | BACKGROUND | WINDOW_9C00
    ldh [rLCDC], a
    ld a, [wPhase]
    jump_table Setups

Setups:
    dw SetupSplits, SetupWave, SetupWindow, SetupSweep, SetupDouble, SetupMaps, SetupBlink

; Phases 0, 2 and 5 follow a list: line, register, value; the lines ascend, and 255 ends it.

SetupSplits:
    ld hl, Splits
    jr UseList

SetupWindow:
    ld a, 16
    ldh [rWY], a
    ld a, LCD_ON | TILES_8000 | BACKGROUND | WINDOW_9C00 | WINDOW_ON
    ldh [rLCDC], a
    ld hl, Windows
    jr UseList

SetupMaps:
    ld hl, Maps
UseList:
    ld a, [hl]
    ldh [rLYC], a
    ld a, l
    ld [wNext], a
    ld a, h
    ld [wNext + 1], a
    ld hl, OnList
    ld b, ON_LYC
; HL: the handler, B: STAT's source.
UseHandler:
    ld a, l
    ld [wHandler], a
    ld a, h
    ld [wHandler + 1], a
    ld a, b
    ldh [rSTAT], a
    ; Whatever the change itself raised is not meant.
    ldh a, [rIF]
    and $FF - STAT_INT
    ldh [rIF], a
    ret

SetupWave:
    ld hl, OnWave
    ld b, ON_MODE_0
    jr UseHandler

; The window wanders over the whole range of WX and WY, its edges outside included.
SetupSweep:
    ld hl, wWindowX
    ld a, [hl]
    add 3
    ld [hl+], a
    ldh [rWX], a
    ld a, [hl]
    add 5
    ld [hl], a
    ldh [rWY], a
    ldh [rSCX], a
    ld a, LCD_ON | TILES_8000 | BACKGROUND | WINDOW_9C00 | WINDOW_ON
    ldh [rLCDC], a
    ret

SetupDouble:
    ld hl, OnDouble
    ld b, ON_MODE_2
    jr UseHandler

SetupBlink:
    ld a, [wFrames]
    ldh [rSCY], a
    ret

; STAT's handlers. The entry has pushed AF, BC and HL.

OnList:
    ld hl, wHits
    inc [hl]
    ld hl, wNext
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    ld b, [hl]          ; this entry's line
.apply:
    inc hl
    ld a, [hl+]
    ld c, a
    ld a, [hl+]
    ldh [c], a
    ld a, [hl]
    cp b
    jr z, .apply
    ldh [rLYC], a       ; 255 is never reached
    ld a, l
    ld [wNext], a
    ld a, h
    ld [wNext + 1], a
    jr StatReturn

; Every line is shifted by a sine of line and frame, and every other line is darker.
OnWave:
    ld hl, wHits
    inc [hl]
    ldh a, [rLY]
    ld b, a
    ld a, [wFrames]
    add b
    and $1F
    add low(Sine)
    ld l, a
    ld h, high(Sine)
    ld a, [hl]
    ldh [rSCX], a
    ld a, %11100100
    bit 0, b
    jr z, .even
    ld a, %11111001
.even:
    ldh [rBGP], a
    jr StatReturn

; Each of the upper 72 lines of the map is shown twice.
OnDouble:
    ld hl, wHits
    inc [hl]
    ldh a, [rLY]
    ld b, a
    srl a
    sub b
    ldh [rSCY], a
StatReturn:
    pop hl
    pop bc
    pop af
    reti

; Every eighth frame without a display, for half a frame: it starts again at line 0.
Blink:
    ld a, [wFrames]
    and 7
    ret nz
    di
    call LcdOff
    ld hl, wOffs
    inc [hl]
    ld bc, 1250
.wait:
    dec bc
    ld a, b
    or c
    jr nz, .wait
    xor a
    ldh [rIF], a
    ld a, LCD_ON | TILES_8000 | BACKGROUND
    ldh [rLCDC], a
    ei
    ret

; DrawTiles and DrawMaps need the LCD off.
DrawTiles:
    ld hl, Tiles
    ld de, TILE_DATA
    ld bc, 64
    call Copy
    ld hl, FontTiles
    ld de, TILE_DATA + 16 * FONT
    ld bc, FontEnd - FontTiles
    call Copy
    ; The same numbers look otherwise in the other tile data: the font upside down in colour.
    ld hl, FontTiles
    ld de, $9000 + 16 * FONT
    ld bc, FontEnd - FontTiles
.invert:
    ld a, [hl+]
    cpl
    ld [de], a
    inc de
    dec bc
    ld a, b
    or c
    jr nz, .invert
    ld hl, Tiles
    ld de, $9000
    ld bc, 64
    jp Copy

DrawMaps:
    ld hl, MAP_0
    ld b, 0
.cell:
    ld a, l
    xor b
    and $0F
    add FONT
    ld [hl+], a
    ld a, l
    and $1F
    jr nz, .row
    inc b
    inc b
    inc b
.row:
    ld a, h
    cp high(MAP_1)
    jr nz, .cell
.other:
    ld a, l
    srl a
    srl a
    srl a
    xor l
    and 3
    ld [hl+], a
    ld a, h
    cp high(MAP_1) + 4
    jr nz, .other
    ret

; line, register (its low byte), value
macro change
    db \1, low(\2), \3
endm

section "lists", rom0
Splits:
    change 0, rSCX, 0
    change 15, rSCX, 3
    change 16, rSCY, 40
    change 31, rBGP, %00011011
    change 47, rSCX, 200
    change 47, rSCY, 130
    change 48, rBGP, %11100100
    change 64, rLCDC, LCD_ON | TILES_8000               ; no background
    change 72, rLCDC, LCD_ON | TILES_8000 | BACKGROUND
    change 80, rSCX, 1
    change 81, rSCX, 2
    change 82, rSCX, 4
    change 100, rSCY, 255
    change 120, rBGP, %10010000
    change 143, rSCX, 7
    db 255
Windows:
    change 10, rWX, 87
    change 30, rWX, 47
    change 40, rLCDC, LCD_ON | TILES_8000 | BACKGROUND | WINDOW_9C00
    change 60, rLCDC, LCD_ON | TILES_8000 | BACKGROUND | WINDOW_9C00 | WINDOW_ON
    change 70, rWX, 166
    change 75, rWX, 167                                 ; beyond the right edge: the window pauses
    change 80, rWX, 0
    change 90, rWX, 6
    change 95, rWX, 7
    change 100, rWY, 150                                ; too late: the window has begun
    change 110, rLCDC, LCD_ON | TILES_8000 | WINDOW_ON | WINDOW_9C00
    change 120, rLCDC, LCD_ON | TILES_8000 | BACKGROUND | WINDOW_ON
    change 130, rWX, 120
    change 130, rSCX, 5
    db 255
Maps:
    change 8, rLCDC, LCD_ON | BACKGROUND                ; the other tile data
    change 24, rLCDC, LCD_ON | BACKGROUND | MAP_9C00
    change 40, rLCDC, LCD_ON | TILES_8000 | BACKGROUND | MAP_9C00
    change 56, rLCDC, LCD_ON | TILES_8000 | BACKGROUND
    change 57, rLCDC, LCD_ON | BACKGROUND
    change 58, rLCDC, LCD_ON | TILES_8000 | BACKGROUND
    change 59, rBGP, %00000000
    change 60, rBGP, %11111111
    change 61, rBGP, %00100111
    change 90, rWY, 100                                 ; the window begins in the middle of a frame
    change 90, rLCDC, LCD_ON | TILES_8000 | BACKGROUND | WINDOW_9C00 | WINDOW_ON
    change 110, rWY, 0
    change 140, rWX, 80
    db 255

section "sine", rom0[$3F00]
; 32 steps of a period, 5 pixels high, as bytes: 256 - 5 is a shift to the other side.
Sine:
    db 0, 1, 2, 3, 4, 4, 5, 5, 5, 5, 5, 4, 4, 3, 2, 1
    db 0, 255, 254, 253, 252, 252, 251, 251, 251, 251, 251, 252, 252, 253, 254, 255

section "tiles", rom0
Tiles:
    ; 0: bricks
    dw `11111112
    dw `11111112
    dw `22222222
    dw `11121111
    dw `11121111
    dw `22222222
    dw `11111112
    dw `22222222
    ; 1: water
    dw `........
    dw `.33....3
    dw `3..33.33
    dw `....33..
    dw `........
    dw `33....33
    dw `..3333..
    dw `........
    ; 2: chequers
    dw `3333....
    dw `3333....
    dw `3333....
    dw `3333....
    dw `....3333
    dw `....3333
    dw `....3333
    dw `....3333
    ; 3: a diamond
    dw `...22...
    dw `..2332..
    dw `.233332.
    dw `23333332
    dw `23333332
    dw `.233332.
    dw `..2332..
    dw `...22...
