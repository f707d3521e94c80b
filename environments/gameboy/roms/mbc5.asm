; MBC5 at its largest: nine bits of bank, of which the ninth has an address of its own, bank 0 in the upper half too, and
; sixteen banks of RAM.

title "LOCKSTEP MBC5"
cartridge "mbc5+ram+battery"
romsize 8192
ramsize 128

include "hardware.inc"

def RAM_BANKS equ 16
def RAM_TOP   equ $BFFF
def RAM_HIGH  equ $00
def RAM_PAGES equ 32
def ROM_BANK  equ $2000
def NINTH_BIT equ $3000
def RAM_SELECT equ $4000

include "mapper.inc"

; Bank 0 answers with its number as the others do, where it is seen at $4000.
section "number of bank 0", rom0[$0000]
    dw 0

section "mbc5", rom0
SelectBank:
    push af
    ld a, c
    ld [ROM_BANK], a
    ld a, b
    ld [NINTH_BIT], a
    pop af
    ret

SelectRam:
    ld [RAM_SELECT], a
    ret

    ram_gate

; wExtra: bank 0 selected; the ninth bit kept while the lower eight change; a value that is only nearly the enabling one.
Extra:
    ld bc, 0
    call SelectBank
    ld a, [BANK_NUMBER]
    ld [wExtra], a
    expect 10, 0
    ld bc, 257
    call SelectBank
    ld a, 3
    ld [ROM_BANK], a
    ld a, [BANK_NUMBER]
    ld [wExtra + 1], a
    expect 11, 3
    ld a, [BANK_NUMBER + 1]
    ld [wExtra + 2], a
    expect 12, 1
    ld a, $1A
    ld [$0000], a
    ld a, [$A000]
    ld [wExtra + 3], a
    expect 13, $FF
    ret

; The banks that have content: enough of both halves, without eight megabytes of the same code.
Banks:
def NUMBER = 1
rept 40
    dw NUMBER, NUMBER
    dw NUMBER + 256, NUMBER + 256
def NUMBER = NUMBER + 1
endr
    dw 511, 511
    dw 255, 255
    dw $FFFF

def NUMBER = 1
rept 40
    bank_content NUMBER, (NUMBER < 40) * (NUMBER + 1)
    bank_content NUMBER + 256, 0
def NUMBER = NUMBER + 1
endr
    bank_content 255, 0
    bank_content 511, 0
