; The sound registers as a program can read them: the bits that read as 1, power off and on, length counters and sweep
; that switch channels off, wave memory, channels without a DAC. Every frame does the next of eight things. Nothing
; here is about how it sounds.

title "LOCKSTEP SOUND"
cartridge "rom"
romsize 32

include "hardware.inc"
include "common.inc"
include "show.inc"

def REGISTERS equ $30       ; NR10 to the last byte of wave memory
def WAVE equ $FF30
def LONGEST equ $2000       ; turns after which a wait is given up

section "results", wram[$C004]
wPhase:  ds 1               ; 0 to 7
wVBlank: ds 1
wWaits:  ds 10              ; turns of a 56-clock loop until a channel went off by its length (four of them) or its sweep
wDac:    ds 1               ; NR52's low bits after every channel was started without a DAC: 0
wRunning: ds 1              ; and after every one was started with one: 15
wOnes:   ds 1               ; registers whose unreadable bits do not read as 1

section "tables", wram[$C100]
wOff:     ds REGISTERS      ; as read with the power off
wWritten: ds REGISTERS      ; after all of them were written $00
wHeld:    ds REGISTERS      ; after all of them were written a pattern
wWave:    ds 16             ; wave memory, read again

section "vblank", rom0[$0040]
    jp OnVBlank

section "main", rom0
Start:
    clean_start
    call ShowSetup
    xor a
    ldh [rIF], a
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
    call ShowBytes
    call CountFrame
    ld a, [wFrames]
    and 7
    ld [wPhase], a
    call Phase
    jr Main

OnVBlank:
    push af
    ld a, 1
    ld [wVBlank], a
    pop af
    reti

Phase:
    jump_table Phases
Phases:
    dw Power, Masks, FirstLength, SecondLength, WaveLength, NoiseLength, Sweep, Dac

; Sound off and on again: all registers but wave memory begin at zero.
macro restart
    xor a
    ldh [rNR52], a
    ld a, $80
    ldh [rNR52], a
endm

; All registers into a table: DE.
ReadAll:
    ld c, low(rNR10)
.next:
    ldh a, [c]
    ld [de], a
    inc e
    inc c
    ld a, c
    cp low(rNR10) + REGISTERS
    jr nz, .next
    ret

; With the power off nothing but NR52 and wave memory can be written.
Power:
    restart
    xor a
    ldh [rNR52], a
    ld a, $F3
    ldh [rNR12], a
    ld a, $55
    ldh [rNR51], a
    ld de, wOff
    call ReadAll
    ldh a, [rNR12]
    expect 1, 0
    ldh a, [rNR51]
    expect 2, 0
    ldh a, [rNR52]
    expect 3, $70
    ret

; Written with 0, a register reads as the bits that can't be read.
Masks:
    restart
    ld c, low(rNR10)
.clear:
    xor a
    ldh [c], a
    inc c
    ld a, c
    cp low(rNR52)
    jr nz, .clear
    ld de, wWritten
    call ReadAll
    ld hl, wWritten
    ld de, Ones
    ld bc, (OnesEnd - Ones) << 8
.compare:
    ld a, [de]
    inc de
    cp [hl]
    jr z, .same
    inc c
.same:
    inc hl
    dec b
    jr nz, .compare
    ld a, c
    ld [wOnes], a
    expect 4, 0
    ; A pattern that starts no channel: bit 7 is clear.
    ld c, low(rNR10)
.pattern:
    ld a, c
    xor $5A
    and $7F
    ldh [c], a
    inc c
    ld a, c
    cp low(rNR52)
    jr nz, .pattern
    ld de, wHeld
    call ReadAll
    ret
Ones:
    db $80, $3F, $00, $FF, $BF
    db $FF, $3F, $00, $FF, $BF
    db $7F, $FF, $9F, $FF, $BF
    db $FF, $FF, $00, $00, $BF
    db $00, $00
OnesEnd:

; until_off BIT, WORD: turns until NR52's bit is clear.
macro until_off
    ld b, \1
    call UntilOff
    ld a, l
    ld [\2], a
    ld a, h
    ld [\2 + 1], a
endm

UntilOff:
    ld hl, 0
.turn:
    inc hl
    ldh a, [rNR52]
    and b
    ret z
    ld a, h
    cp high(LONGEST)
    jr nz, .turn
    ret

; set_sound REGISTER, VALUE
macro set_sound
    ld a, \2
    ldh [\1], a
endm

; Each channel with a length of four steps: 64 Hz long.
FirstLength:
    restart
    set_sound rNR12, $F0
    set_sound rNR11, 64 - 4
    set_sound rNR13, $00
    set_sound rNR14, $C4
    until_off 1, wWaits
    ret

SecondLength:
    restart
    set_sound rNR12 + 5, $F0
    set_sound rNR11 + 5, 64 - 4
    set_sound rNR13 + 5, $00
    set_sound rNR14 + 5, $C4
    until_off 2, wWaits + 2
    ret

WaveLength:
    restart
    set_sound rNR10 + 10, $80
    set_sound rNR11 + 10, 256 - 4
    set_sound rNR12 + 10, $20
    set_sound rNR13 + 10, $00
    set_sound rNR14 + 10, $C4
    until_off 4, wWaits + 4
    ret

NoiseLength:
    restart
    set_sound rNR42, $F0
    set_sound rNR41, 64 - 4
    set_sound rNR43, $33
    set_sound rNR44, $C0
    until_off 8, wWaits + 6
    ret

; A sweep upwards that leaves the range of frequencies ends its channel.
Sweep:
    restart
    set_sound rNR10, $11
    set_sound rNR12, $F0
    set_sound rNR11, $00
    set_sound rNR13, $00
    set_sound rNR14, $84
    until_off 1, wWaits + 8
    ret

Dac:
    restart
    ; Without: volume 0 and falling, or the wave's switch off.
    xor a
    ldh [rNR12], a
    ldh [rNR12 + 5], a
    ldh [rNR10 + 10], a
    ldh [rNR42], a
    call StartAll
    ldh a, [rNR52]
    and $0F
    ld [wDac], a
    expect 5, 0
    set_sound rNR12, $08
    set_sound rNR12 + 5, $10
    set_sound rNR10 + 10, $80
    set_sound rNR42, $A0
    call StartAll
    ldh a, [rNR52]
    and $0F
    ld [wRunning], a
    expect 6, $0F
    ; Wave memory is the program's while its channel is off.
    xor a
    ldh [rNR10 + 10], a
    ld c, low(WAVE)
.write:
    ld a, [wFrames]
    add c
    ldh [c], a
    inc c
    bit 6, c
    jr z, .write
    ld c, low(WAVE)
    ld hl, wWave
.read:
    ldh a, [c]
    ld [hl+], a
    inc c
    bit 6, c
    jr z, .read
    ret

StartAll:
    ld a, $87
    ldh [rNR14], a
    ldh [rNR14 + 5], a
    ldh [rNR14 + 10], a
    ldh [rNR44], a
    ret
