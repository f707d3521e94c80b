; MBC3 with clock and RAM. The clock is set, runs over the end of a minute, an hour, a day and its day counter, and is
; latched. It is read only while this program counts time too, so that nothing depends on when it was started:
; every access to its registers is an instruction of its own, and none of them stays selected.

title "LOCKSTEP MBC3"
cartridge "mbc3+timer+ram+battery"
romsize 128
ramsize 32

include "hardware.inc"

def RAM_BANKS equ 4
def RAM_TOP   equ $BFFF
def RAM_HIGH  equ $00
def RAM_PAGES equ 32
def ROM_BANK  equ $2000
def RAM_SELECT equ $4000
def LATCH     equ $6000

def SECONDS  equ $08
def MINUTES  equ $09
def HOURS    equ $0A
def DAYS     equ $0B
def CONTROL  equ $0C
def STOPPED  equ $40

include "mapper.inc"

section "mbc3", rom0
SelectBank:
    push af
    ld a, c
    ld [ROM_BANK], a
    pop af
    ret

SelectRam:
    ld [RAM_SELECT], a
    ret

    ram_gate

; set_clock REGISTER, VALUE and get_clock REGISTER, ADDRESS
macro set_clock
    ld a, \1
    ld [RAM_SELECT], a
    ld a, \2
    ld [$A000], a
endm
macro get_clock
    ld a, \1
    ld [RAM_SELECT], a
    ld a, [$A000]
    ld [\2], a
endm

; wExtra: as last latched: seconds, minutes, hours, days, control; then, of the time when the clock stood, seconds and
; control; then how often the clock was set. Every 256 rounds it is stopped and set, after 4 it starts one second before
; the last day's end, and every 32 rounds it is latched.
Extra:
    call EnableRam
    ld a, [wFrames]
    and a
    jp z, .set
    cp 3
    jp z, .look
    cp 4
    jp z, .start
    and $1F
    cp 8
    jp z, .latch
    jp .done
.set:
    set_clock CONTROL, STOPPED | 1
    set_clock SECONDS, 59
    set_clock MINUTES, 59
    set_clock HOURS, 23
    set_clock DAYS, 255
    ld hl, wExtra + 7
    inc [hl]
    jp .done
; Time stands: three rounds later it is still that second.
.look:
    call Latch
    get_clock SECONDS, wExtra + 5
    expect 10, 59
    get_clock CONTROL, wExtra + 6
    expect 11, STOPPED | 1
    jp .done
.start:
    set_clock CONTROL, 1
    jp .done
.latch:
    call Latch
    get_clock SECONDS, wExtra
    get_clock MINUTES, wExtra + 1
    get_clock HOURS, wExtra + 2
    get_clock DAYS, wExtra + 3
    get_clock CONTROL, wExtra + 4
.done:
    xor a
    ld [RAM_SELECT], a
    jp DisableRam

Latch:
    xor a
    ld [LATCH], a
    inc a
    ld [LATCH], a
    ret

Banks:
def NUMBER = 0
rept 8
    dw NUMBER
    dw (NUMBER == 0) + NUMBER
def NUMBER = NUMBER + 1
endr
    dw $85, $05         ; seven bits count
    dw $FFFF

def NUMBER = 1
rept 7
    bank_content NUMBER, (NUMBER < 7) * (NUMBER + 1)
def NUMBER = NUMBER + 1
endr
