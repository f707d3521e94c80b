; All five interrupts: their order, one inside another, HALT with and without them, and what EI and DI delay. Every frame
; does the next of eight things.

title "LOCKSTEP INTRPTS"
cartridge "rom"
romsize 32

include "hardware.inc"
include "common.inc"
include "show.inc"

section "results", wram[$C004]
wPhase:     ds 1        ; 0 to 7
wVBlank:    ds 1        ; 1: VBlank has come
wSerialIn:  ds 1        ; what came in over the serial line
wPadLines:  ds 1        ; the direction lines as the last joypad interrupt saw them
wHaltBug:   ds 1        ; INC Bs executed behind a HALT with an interrupt pending and IME off
wEiDelay:   ds 1        ; INC Bs executed between EI and the interrupt that was pending
wEiDi:      ds 1        ; interrupts between EI and the DI that follows it
wEiHalt:    ds 1        ; interrupts from EI, HALT with one pending, until HALT is left
wStats:     ds 1        ; STAT interrupts in a frame with LYC, mode 0 and mode 2 on
wDepth:     ds 1        ; how deep timer interrupts are inside each other now
wDeepest:   ds 1        ; and were at most
wNest:      ds 1        ; how many more may come that allow others inside
wCounts:                ; words: how often each came
wVBlanks:   ds 2
wStatCount: ds 2
wTimers:    ds 2
wSerials:   ds 2
wJoypads:   ds 2
wStatBase:  ds 1        ; wStatCount's low byte when the frame of phase 7 began
wTimerB:    ds 1        ; B when the last timer interrupt came
wLogged:    ds 1        ; how much of the log is used
wLog:       ds 8        ; which came, in their order: 0 VBlank, 1 STAT, 2 timer, 3 serial, 4 joypad

section "vblank", rom0[$0040]
    jp OnVBlank
section "stat", rom0[$0048]
    jp OnStat
section "timer", rom0[$0050]
    jp OnTimer
section "serial", rom0[$0058]
    jp OnSerial
section "joypad", rom0[$0060]
    jp OnJoypad

; Requests are forgotten, but for a button's: those come from outside, in any phase.
macro keep_buttons
    ldh a, [rIF]
    and JOYPAD_INT
    ldh [rIF], a
endm

section "main", rom0
Start:
    clean_start
    call ShowSetup
    xor a
    ldh [rTAC], a
    ldh [rSTAT], a
    ldh [rP1], a            ; all of the pad's lines selected: any button interrupts
    ldh [rIF], a
    ld a, LCD_ON | TILES_8000 | BACKGROUND
    ldh [rLCDC], a

Main:
    ld a, VBLANK_INT | JOYPAD_INT
    ld hl, wPhase
    bit 3, [hl]             ; set by phase 7 only: its frame counts STAT's interrupts
    jr z, .usual
    or STAT_INT
.usual:
    ldh [rIE], a
    ei
.sleep:
    halt
    nop
    ld a, [wVBlank]
    and a
    jr z, .sleep
    di
    xor a
    ld [wVBlank], a
    call ShowBytes
    call EndOfStats
    call CountFrame
    ld a, [wFrames]
    and 7
    ld [wPhase], a
    call Phase
    di
    keep_buttons
    xor a
    ldh [rTAC], a
    ld [wVBlank], a
    jr Main

Phase:
    jump_table Phases
Phases:
    dw Order, HaltForTimer, HaltWithoutIme, HaltBug, Nested, Serial, EnableDelay, CountStats

; All five at once: they come in the order of their bits.
Order:
    xor a
    ldh [rIE], a
    ld [wLogged], a
    ld a, $1F
    ldh [rIF], a
    ldh [rIE], a
    ei
    nop
    nop
    nop
    di
    ld hl, wLog
    ld b, 0
.next:
    ld a, [hl+]
    expect 1, b
    inc b
    ld a, b
    cp 5
    jr nz, .next
    ret

; start COUNTS: the timer at its fastest, which overflows after so many counts of 16 clocks.
macro start
    ld a, $100 - \1
    ldh [rTMA], a
    ldh [rTIMA], a
    ld a, TIMER_ON | 1
    ldh [rTAC], a
endm

; only SOURCE: nothing else on, and nothing but buttons pending.
macro only
    ld a, \1
    ldh [rIE], a
    keep_buttons
endm

HaltForTimer:
    only TIMER_INT
    ld a, [wTimers]
    ld c, a
    start 64
    ei
rept 4
    halt
    nop
endr
    di
    ld a, [wTimers]
    sub c
    expect 2, 4
    ret

; HALT ends although nothing is served, and what ended it stays pending.
HaltWithoutIme:
    only TIMER_INT
    ld a, [wTimers]
    ld c, a
    start 100
    halt
    nop
    ldh a, [rIF]
    and TIMER_INT           ; a button may have come, too
    expect 3, TIMER_INT
    ld a, [wTimers]
    sub c
    expect 4, 0
    ret

; With IME off and one pending, a console does not halt, and reads the next opcode twice. Emulators differ: recorded only.
HaltBug:
    only TIMER_INT
    ld a, TIMER_INT
    ldh [rIF], a
    ld b, 0
    halt
    inc b
    nop
    ld a, b
    ld [wHaltBug], a
    ret

; Timer interrupts that allow others, themselves included, three deep; STAT's come between.
Nested:
    ld a, 12
    ld [wNest], a
    only TIMER_INT | STAT_INT
    ldh a, [rLY]
    add 3
    cp 154
    jr c, .line
    sub 154
.line:
    ldh [rLYC], a
    ld a, ON_LYC
    ldh [rSTAT], a
    start 64
    ei
.wait:
    ld a, [wNest]
    and a
    jr nz, .wait
    di
    xor a
    ldh [rSTAT], a
    ld a, [wDepth]
    expect 5, 0
    ret

Serial:
    only SERIAL_INT
    ld a, [wSerials]
    ld c, a
    ld a, $55
    ldh [rSB], a
    ld a, $81
    ldh [rSC], a
    ei
    halt
    nop
    di
    ldh a, [rSC]
    and $80
    expect 6, 0
    ldh a, [rSB]
    ld [wSerialIn], a
    ld a, [wSerials]
    sub c
    expect 7, 1
    ret

EnableDelay:
    only TIMER_INT
    ld a, TIMER_INT
    ldh [rIF], a
    ld b, 0
    ei
    inc b                   ; the timer's handler stores B
    inc b
    nop
    di
    ld a, [wTimerB]
    ld [wEiDelay], a
    ld a, [wTimers]
    ld c, a
    ld a, TIMER_INT
    ldh [rIF], a
    ei
    di
    nop
    nop
    ld a, [wTimers]
    sub c
    ld [wEiDi], a
    ; The timer runs, for where HALT is entered again behind the first interrupt.
    ld a, [wTimers]
    ld c, a
    start 128
    ld a, TIMER_INT
    ldh [rIF], a
    ei
    halt
    nop
    di
    ld a, [wTimers]
    sub c
    ld [wEiHalt], a
    ret

CountStats:
    ld a, 70
    ldh [rLYC], a
    ld a, [wStatCount]
    ld [wStatBase], a
    ld hl, wPhase
    set 3, [hl]
    ld a, ON_LYC | ON_MODE_0 | ON_MODE_2
    ldh [rSTAT], a
    ret

EndOfStats:
    ld hl, wPhase
    bit 3, [hl]
    ret z
    res 3, [hl]
    xor a
    ldh [rSTAT], a
    ld hl, wStatBase
    ld a, [wStatCount]
    sub [hl]
    ld [wStats], a
    ret

; count WORD, NUMBER: one more of it, and its number into the log.
macro count
    push af
    push hl
    ld hl, \1
    inc [hl]
    jr nz, .low\@
    inc hl
    inc [hl]
.low\@:
    ld a, [wLogged]
    cp 8
    jr nc, .full\@
    add low(wLog)
    ld l, a
    ld h, high(wLog)
    ld [hl], \2
    ld hl, wLogged
    inc [hl]
.full\@:
endm

OnVBlank:
    count wVBlanks, 0
    ld a, 1
    ld [wVBlank], a
    pop hl
    pop af
    reti

OnStat:
    count wStatCount, 1
    pop hl
    pop af
    reti

OnSerial:
    count wSerials, 3
    pop hl
    pop af
    reti

OnJoypad:
    count wJoypads, 4
    ld a, $20
    ldh [rP1], a
    ldh a, [rP1]
    and $0F
    ld [wPadLines], a
    xor a
    ldh [rP1], a
    pop hl
    pop af
    reti

OnTimer:
    count wTimers, 2
    ld a, b
    ld [wTimerB], a
    ld hl, wNest
    ld a, [hl]
    and a
    jr z, .done
    dec [hl]
    jr nz, .more
    xor a
    ldh [rTAC], a
.more:
    ld hl, wDepth
    inc [hl]
    ld a, [hl+]
    cp [hl]
    jr c, .known
    ld [hl], a
.known:
    cp 3
    jr nc, .deep
    ei
    push bc
    ld b, 70
.burn:
    dec b
    jr nz, .burn
    pop bc
    di
.deep:
    ld hl, wDepth
    dec [hl]
.done:
    pop hl
    pop af
    reti
    assert wDeepest == wDepth + 1, "the handler goes from one to the other"
