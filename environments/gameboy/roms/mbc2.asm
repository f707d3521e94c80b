; MBC2: sixteen banks, and 512 nibbles of RAM inside the mapper. Address bit 8 tells RAM enable and bank apart.

title "LOCKSTEP MBC2"
cartridge "mbc2+battery"
romsize 256

include "hardware.inc"

def RAM_BANKS equ 1
def RAM_TOP   equ $A1FF
def RAM_HIGH  equ $F0
def RAM_PAGES equ 2
def ROM_BANK  equ $2100

include "mapper.inc"

section "mbc2", rom0
SelectBank:
    push af
    ld a, c
    ld [ROM_BANK], a
    pop af
    ret

SelectRam:
    ret

    ram_gate

; wExtra: the RAM repeats every 512 bytes; a bank written with bit 8 clear selects nothing but the RAM.
Extra:
    call EnableRam
    ld a, $A7
    ld [$A123], a
    ld a, [$A323]
    ld [wExtra], a
    expect 10, $F7
    ld a, [$BF23]
    ld [wExtra + 1], a
    expect 11, $F7
    ld bc, 5
    call SelectBank
    ld a, 9
    ld [$2000], a
    ld a, [BANK_NUMBER]
    ld [wExtra + 2], a
    expect 12, 5
    ; That write was no enabling value, so that the RAM is off now.
    ld a, [$A123]
    ld [wExtra + 3], a
    expect 13, $FF
    ret

Banks:
def NUMBER = 0
rept 16
    dw NUMBER
    dw (NUMBER == 0) + NUMBER
def NUMBER = NUMBER + 1
endr
    dw $13, $03         ; four bits count
    dw $FFFF

def NUMBER = 1
rept 15
    bank_content NUMBER, (NUMBER < 15) * (NUMBER + 1)
def NUMBER = NUMBER + 1
endr
