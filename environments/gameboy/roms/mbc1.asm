; MBC1 with more than 32 banks: five bits here, two bits there, banks that can't be reached, and mode 1, in which the
; two bits also move the lower half of the ROM.

title "LOCKSTEP MBC1"
cartridge "mbc1+ram+battery"
romsize 1024
ramsize 8

include "hardware.inc"

def RAM_BANKS equ 1
def RAM_TOP   equ $BFFF
def RAM_HIGH  equ $00
def RAM_PAGES equ 32
def ROM_BANK  equ $2000
def UPPER     equ $4000
def MODE      equ $6000
def LOWER_MARK equ $3FF0    ; a byte that is another one in the banks which mode 1 shows below $4000

include "mapper.inc"

section "code in wram", wram[$C200]
wLowerBank: ds 32

section "mbc1", rom0
SelectBank:
    push af
    ld a, c
    and $1F
    ld [ROM_BANK], a
    ld a, c
    swap a
    rrca
    and 3
    ld [UPPER], a
    pop af
    ret

SelectRam:
    ret

    ram_gate

; wExtra: the mark below $4000 in mode 0, in mode 1 with the upper bits 1, and again in mode 0.
Extra:
    xor a
    ld [UPPER], a
    ld a, [LOWER_MARK]
    ld [wExtra], a
    expect 10, $11
    ; From WRAM, for the ROM below $4000 goes away under whoever asks.
    ld hl, LowerBank
    ld de, wLowerBank
    ld bc, LowerBankEnd - LowerBank
    call Copy
    call wLowerBank
    ld [wExtra + 1], a
    expect 11, $22
    ld a, [LOWER_MARK]
    ld [wExtra + 2], a
    expect 12, $11
    ret

LowerBank:
    ld a, 1
    ld [UPPER], a
    ld [MODE], a
    ld a, [LOWER_MARK]
    ld b, a
    xor a
    ld [MODE], a
    ld [UPPER], a
    ld a, b
    ret
LowerBankEnd:
    assert LowerBankEnd - LowerBank <= 32, "the routine fits its place in WRAM"

Banks:
def NUMBER = 0
rept 64
    dw NUMBER
    ; A zero in the five bits counts as a one.
    dw NUMBER + ((NUMBER & $1F) == 0)
def NUMBER = NUMBER + 1
endr
    dw $FFFF

def NUMBER = 1
rept 63
    ; The chain writes five bits only, so that it stays among the first 32.
    bank_content NUMBER, (NUMBER < 31) * (NUMBER + 1)
def NUMBER = NUMBER + 1
endr

section "lower mark of bank 32", romx[$4000 + LOWER_MARK], bank[32]
    db $22

section "lower mark", rom0[LOWER_MARK]
    db $11
