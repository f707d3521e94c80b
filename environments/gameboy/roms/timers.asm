; The timer and the divider: all four rates, the reload, and writes to DIV, TIMA, TMA and TAC a machine cycle apart, so
; that a table in WRAM shows at which cycle each of them still counts. The tables are the emulator's answer: nothing here
; says which of them a console gives; README.md says which values the self-checks fix.

title "LOCKSTEP TIMERS"
cartridge "rom"
romsize 32

include "hardware.inc"
include "common.inc"
include "show.inc"

section "results", wram[$C004]
wInterrupts: ds 2       ; timer interrupts so far
wPerFrame:   ds 4       ; in the last whole frame at each rate, at 32 counts an interrupt, less those that VBlank delayed
wPartial:    ds 1       ; and in the frame that began before the timer did
wDivider:    ds 1       ; DIV about 10100 clocks after it was cleared
wPhase:      ds 1       ; the rate of this frame; 4: none yet
wCount:      ds 1       ; its interrupts so far
wVBlank:     ds 1
wWaits:      ds 8       ; per rate: how many turns of a 40-clock loop an overflow takes from a cleared divider

section "tables", wram[$C100]
wDivWrites:  ds 64      ; TIMA after DIV was written N machine cycles later and later
wTimaWrites: ds 32      ; TIMA after it was written N machine cycles later and later; it overflows in the table's middle
wTimaFlags:  ds 32      ; and IF
wTmaWrites:  ds 32      ; the same for a write to TMA
wTacWrites:  ds 64      ; TIMA after the rate changed from 1 to 2
wReads:      ds 32      ; TIMA as it is read

section "vblank", rom0[$0040]
    jp VBlank

section "timer", rom0[$0050]
    jp Timer

section "main", rom0
Start:
    clean_start
    call ShowSetup
    ld a, LCD_ON | TILES_8000 | BACKGROUND
    ldh [rLCDC], a

Round:
    di
    xor a
    ldh [rIE], a
    call Waits
    call Divider
    call DivWrites
    call TimaWrites
    call TmaWrites
    call TacWrites
    call Reads
    call Rates
    jr Round

; Sixteen frames in which interrupts count, four at each rate.
Rates:
    ld a, 4
    ld [wPhase], a
    xor a
    ld [wVBlank], a
    ld [wCount], a
    ldh [rIF], a
    ld a, VBLANK_INT | TIMER_INT
    ldh [rIE], a
    ei
    ld b, 16
.frame:
    halt
    nop
    ld a, [wVBlank]
    and a
    jr z, .frame
    xor a
    ld [wVBlank], a
    dec b
    jr nz, .frame
    di
    xor a
    ldh [rTAC], a
    ret

VBlank:
    push af
    push bc
    push de
    push hl
    ld a, 1
    ld [wVBlank], a
    call CountFrame
    ; The frame's count belongs to the rate that it ran at.
    ld a, [wPhase]
    add low(wPerFrame)
    ld l, a
    ld h, high(wPerFrame)
    ld a, [wCount]
    ld [hl], a
    xor a
    ld [wCount], a
    ld a, [wFrames]
    rrca
    rrca
    and 3
    ld [wPhase], a
    or TIMER_ON
    ldh [rTAC], a
    ld a, $E0
    ldh [rTMA], a
    call ShowBytes
    pop hl
    pop de
    pop bc
    pop af
    reti

Timer:
    push af
    push hl
    ld hl, wCount
    inc [hl]
    ld hl, wInterrupts
    inc [hl]
    jr nz, .low
    inc hl
    inc [hl]
.low:
    pop hl
    pop af
    reti

; prepare TAC, TMA, TIMA: no interrupt pending, the divider cleared, and the timer on five machine cycles later. (With the
; timer on before, clearing the divider could count.)
macro prepare
    xor a
    ldh [rTAC], a
    ld a, \2
    ldh [rTMA], a
    ld a, \3
    ldh [rTIMA], a
    xor a
    ldh [rIF], a
    ldh [rDIV], a
    ld a, \1
    ldh [rTAC], a
endm

; How long sixteen counts last, by the turns of a loop.
Waits:
    ld c, 0
    ld de, wWaits
.rate:
    push de
    ld a, c
    or TIMER_ON
    ld b, a
    prepare b, $80, $F0
    ld de, 0
.turn:
    inc de
    ldh a, [rIF]
    and TIMER_INT
    jr z, .turn
    ; The reload has happened: TIMA counts from TMA, slowly enough to be seen there at the slowest rates.
    ldh a, [rTIMA]
    ld b, a
    ld a, c
    and a
    jr nz, .store
    ld a, b
    expect 1, $80
.store:
    ld a, e
    ld b, d
    pop de
    ld [de], a
    inc de
    ld a, b
    ld [de], a
    inc de
    inc c
    bit 2, c
    jr z, .rate
    xor a
    ldh [rTAC], a
    ret

; DIV counts every 256 clocks, whatever the timer does.
Divider:
    xor a
    ldh [rTAC], a
    ldh [rDIV], a
    ld bc, 360          ; of 28 clocks: 10080
.wait:
    dec bc
    ld a, b
    or c
    jr nz, .wait
    ldh a, [rDIV]
    ld [wDivider], a
    expect 2, 39
    ret

; HL = the sled's entry that is C machine cycles before its end.
SledEntry:
    ld a, low(SledEnd)
    sub c
    ld l, a
    ld a, high(SledEnd)
    sbc 0
    ld h, a
    ret

Sled:
    ds 64, 0            ; nop
SledEnd:
    ret

IntoSled:
    jp hl

; store TABLE: A into it at C.
macro store
    ld b, a
    ld a, low(\1)
    add c
    ld l, a
    ld h, high(\1)
    ld [hl], b
endm

DivWrites:
    ld c, 0
.next:
    call SledEntry
    prepare TIMER_ON | 2, $00, $10
    call IntoSled
    ldh [rDIV], a
    ldh a, [rTIMA]
    store wDivWrites
    inc c
    ld a, c
    cp 64
    jr nz, .next
    ret

TimaWrites:
    ld c, 0
.next:
    call SledEntry
    prepare TIMER_ON | 1, $33, $F8
    ld a, $77
    call IntoSled
    ldh [rTIMA], a
    ldh a, [rTIMA]
    store wTimaWrites
    ldh a, [rIF]
    store wTimaFlags
    inc c
    ld a, c
    cp 32
    jr nz, .next
    ret

TmaWrites:
    ld c, 0
.next:
    call SledEntry
    prepare TIMER_ON | 1, $33, $F8
    ld a, $77
    call IntoSled
    ldh [rTMA], a
    ldh a, [rTIMA]
    store wTmaWrites
    inc c
    ld a, c
    cp 32
    jr nz, .next
    ret

TacWrites:
    ld c, 0
.next:
    call SledEntry
    prepare TIMER_ON | 1, $00, $10
    ld a, TIMER_ON | 2
    call IntoSled
    ldh [rTAC], a
    ldh a, [rTIMA]
    store wTacWrites
    inc c
    ld a, c
    cp 64
    jr nz, .next
    ret

Reads:
    ld c, 0
.next:
    call SledEntry
    prepare TIMER_ON | 1, $33, $F8
    call IntoSled
    ldh a, [rTIMA]
    store wReads
    inc c
    ld a, c
    cp 32
    jr nz, .next
    ret
