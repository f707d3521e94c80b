; MBC1 with four banks of RAM, which the two upper bits choose in mode 1.

title "LOCKSTEP MBC1RAM"
cartridge "mbc1+ram+battery"
romsize 128
ramsize 32

include "hardware.inc"

def RAM_BANKS equ 4
def RAM_TOP   equ $BFFF
def RAM_HIGH  equ $00
def RAM_PAGES equ 32
def ROM_BANK  equ $2000
def UPPER     equ $4000
def MODE      equ $6000

include "mapper.inc"

section "mbc1", rom0
SelectBank:
    push af
    ld a, c
    ld [ROM_BANK], a
    pop af
    ret

SelectRam:
    ld [UPPER], a
    ret

EnableRam:
    push af
    ld a, 1
    ld [MODE], a
    ld a, $3A           ; only the low nibble counts
    ld [$1FFF], a
    pop af
    ret

DisableRam:
    push af
    xor a
    ld [MODE], a
    ld [$0000], a
    pop af
    ret

; wExtra: in mode 0 every choice shows bank 0.
Extra:
    call EnableRam
    ld a, 3
    call SelectRam
    ld a, $C3
    ld [$A010], a
    xor a
    call SelectRam
    ld a, $3C
    ld [$A010], a
    xor a
    ld [MODE], a
    ld a, 3
    call SelectRam
    ld a, [$A010]
    ld [wExtra], a
    expect 10, $3C
    ld a, 1
    ld [MODE], a
    ld a, [$A010]
    ld [wExtra + 1], a
    expect 11, $C3
    xor a
    call SelectRam
    jp DisableRam

Banks:
def NUMBER = 0
rept 16
    ; Eight banks: the fourth bit selects nothing. Number 8 would show bank 0, which has no code here to call.
if NUMBER != 8
    dw NUMBER
    dw (NUMBER == 0) + (NUMBER & 7)
endc
def NUMBER = NUMBER + 1
endr
    dw $FFFF

def NUMBER = 1
rept 7
    bank_content NUMBER, (NUMBER < 7) * (NUMBER + 1)
def NUMBER = NUMBER + 1
endr
