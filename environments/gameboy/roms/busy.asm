; A CPU that never waits: arithmetic, bits, decimals, 16 bits, calls, memory, code outside the ROM. Interrupts stay off, and there is no HALT.
; Every result goes into a checksum or a known value in WRAM, so that one wrong flag shows.

title "LOCKSTEP BUSY"
cartridge "rom"
romsize 32

include "hardware.inc"
include "common.inc"
include "show.inc"
include "random.inc"

section "results", wram[$C004]
wAlu:     ds 2      ; checksum of A and F over all the 8-bit arithmetic of the round
wBits:    ds 2      ; the same over rotations, shifts and bit operations
wDecimal: ds 2      ; 300 * 37 - 100 * 18 in decimal, modulo 10000
wCrc:     ds 2      ; CRC-16 (polynomial $1021, from 0) of the copied bytes
wProduct: ds 2      ; the round's number times 12345
wPrimes:  ds 1      ; how many primes are below 256
wSorted:  ds 1      ; 1: the last array came out in order
wCalls:   ds 1      ; the twelfth Fibonacci number, by recursion
wStack:   ds 1      ; 1: stack pointer arithmetic came out right
wMoved:   ds 1      ; what code in WRAM, in its echo and in HRAM made of the round's number
wTotal:   ds 2      ; all of the above, over all rounds
wRandom:  ds 2

section "work", wram[$C100]
wSieve: ds 256
wCopy:  ds 256
wArray: ds 64
wCode:  ds 8
def ARRAY_SIZE equ 64

section "main", rom0
Start:
    clean_start
    call ShowSetup
    ld a, LCD_ON | TILES_8000 | BACKGROUND
    ldh [rLCDC], a

Round:
    call Alu
    call Bits
    call Decimal
    call CopyAndCrc
    call Multiply
    call Sieve
    call Sort
    ld a, 12
    call Fibonacci
    ld a, b
    ld [wCalls], a
    expect 5, 144
    call StackPointer
    call Elsewhere
    call Total
    call CountFrame
    call WaitForVBlank
    call ShowBytes
    jr Round

; mix: HL = (HL + AF) rotated left. Changes BC and the flags.
macro mix
    push af
    pop bc
    add hl, bc
    add hl, hl
    jr nc, .even\@
    inc l
.even\@:
endm

; apply INSTRUCTION: to D's value in A and E, with carry set.
macro apply
    ld a, d
    scf
    \1
    mix
endm

; All 256 first operands, with the round's number as the second.
Alu:
    ld hl, 0
    ld d, 0
    ld a, [wFrames]
    ld e, a
.next:
    apply add e
    apply adc e
    apply sub e
    apply sbc e
    apply and e
    apply xor e
    apply or e
    apply cp e
    apply inc a
    apply dec a
    inc d
    jp nz, .next
    ld a, l
    ld [wAlu], a
    ld a, h
    ld [wAlu + 1], a
    ret

Bits:
    ld hl, 0
    ld d, 0
.next:
    apply rlca
    apply rrca
    apply rla
    apply rra
    apply rlc a
    apply rrc a
    apply rl a
    apply rr a
    apply sla a
    apply sra a
    apply swap a
    apply srl a
    apply cpl
    apply ccf
def BIT_NUMBER = 0
rept 8
    ld a, d
    scf
    bit BIT_NUMBER, a
    mix
def BIT_NUMBER = BIT_NUMBER + 1
endr
    ld a, d
    res 3, a
    set 6, a
    mix
    inc d
    jp nz, .next
    ld a, l
    ld [wBits], a
    ld a, h
    ld [wBits + 1], a
    ret

; decimal OPERATION, WITH CARRY, NUMBER, TIMES: on the four decimal digits in DE.
macro decimal
    ld bc, \4
.step\@:
    ld a, e
    \1 a, low(\3)
    daa
    ld e, a
    ld a, d
    \2 a, high(\3)
    daa
    ld d, a
    dec bc
    ld a, b
    or c
    jr nz, .step\@
endm

Decimal:
    ld de, 0
    decimal add, adc, $0037, 300
    decimal sub, sbc, $0018, 100
    ld a, e
    ld [wDecimal], a
    expect 1, $00
    ld a, d
    ld [wDecimal + 1], a
    expect 2, $93
    ret

; 256 bytes of the second bank to WRAM, and their CRC from there.
CopyAndCrc:
    ld hl, Pattern
    ld de, wCopy
    ld bc, 256
    call Copy
    ld hl, 0
    ld de, wCopy
.byte:
    ld a, [de]
    xor h
    ld h, a
    ld b, 8
.bit:
    add hl, hl
    jr nc, .no
    ld a, h
    xor $10
    ld h, a
    ld a, l
    xor $21
    ld l, a
.no:
    dec b
    jr nz, .bit
    inc e
    jr nz, .byte
    ld a, l
    ld [wCrc], a
    ld a, h
    ld [wCrc + 1], a
    ret
    assert low(wCopy) == 0, "the loop ends with the page"

; HL = the round's number * 12345, by shifting and adding.
Multiply:
    ld a, [wFrames]
    ld c, a
    ld a, [wFrames + 1]
    ld b, a
    ld de, 12345
    ld hl, 0
    ld a, 16
.bit:
    add hl, hl
    sla e
    rl d
    jr nc, .no
    add hl, bc
.no:
    dec a
    jr nz, .bit
    ld a, l
    ld [wProduct], a
    ld a, h
    ld [wProduct + 1], a
    ret

; Eratosthenes: a byte a number, 1 for those that are crossed out.
Sieve:
    ld hl, wSieve
    ld bc, 256
    ld d, 0
    call Fill
    ld hl, wSieve
    ld [hl], 1
    inc l
    ld [hl], 1
    ld c, 2
.factor:
    ld h, high(wSieve)
    ld l, c
    bit 0, [hl]
    jr nz, .next
    ld a, c
.cross:
    add c
    jr c, .next
    ld l, a
    set 0, [hl]
    jr .cross
.next:
    inc c
    bit 4, c
    jr z, .factor
    ld hl, wSieve
    ld b, 0
.count:
    ld a, [hl]
    xor 1
    add b
    ld b, a
    inc l
    jr nz, .count
    ld [wPrimes], a
    expect 3, 54
    ret

; Random bytes, sorted by insertion.
Sort:
    ld hl, wArray
    ld b, ARRAY_SIZE
.fill:
    call Random
    ld [hl+], a
    dec b
    jr nz, .fill
    ld c, 1
.insert:
    ld b, c
    ld h, high(wArray)
    ld a, low(wArray)
    add b
    ld l, a
    ld d, [hl]
.shift:
    dec l
    ld a, [hl]
    cp d
    jr c, .place
    inc l
    ld [hl-], a
    dec b
    jr nz, .shift
    dec l
.place:
    inc l
    ld [hl], d
    inc c
    ld a, c
    cp ARRAY_SIZE
    jr nz, .insert
    ; In order?
    ld hl, wArray
    ld b, ARRAY_SIZE - 1
    ld c, 1
.check:
    ld a, [hl+]
    cp [hl]
    jr z, .ordered
    jr c, .ordered
    ld c, 0
.ordered:
    dec b
    jr nz, .check
    ld a, c
    ld [wSorted], a
    expect 4, 1
    ret

; B = the A-th Fibonacci number, as slowly as its definition.
Fibonacci:
    cp 2
    jr nc, .sum
    ld b, a
    ret
.sum:
    push af
    dec a
    call Fibonacci
    pop af
    push bc
    sub 2
    call Fibonacci
    ld a, b
    pop bc
    add b
    ld b, a
    ret

; What the stack pointer can do beside calls; 1 into wStack if all of it agrees.
StackPointer:
    ld [wSieve], sp
    ld hl, sp + 0
    ld a, [wSieve]
    cp l
    jr nz, .bad
    ld a, [wSieve + 1]
    cp h
    jr nz, .bad
    ld d, h
    ld e, l
    add sp, -16
    ld hl, sp + 16
    ld sp, hl
    ld a, h
    cp d
    jr nz, .bad
    ld a, l
    cp e
    jr nz, .bad
    ; Reading a table by popping.
    ld sp, Pattern
    pop bc
    pop hl
    dec sp
    dec sp
    dec sp
    dec sp
    add hl, bc
    ld b, h
    ld c, l
    ld h, d
    ld l, e
    ld sp, hl
    ld hl, Pattern + 2
    ld a, [Pattern]
    add [hl]
    cp c
    jr nz, .bad
    ld a, 1
    jr .store
.bad:
    xor a
.store:
    ld [wStack], a
    expect 6, 1
    ret

; The same code three times, where no ROM is: A = swap(A + 7) xor $35.
Elsewhere:
    ld hl, Moving
    ld de, wCode
    ld bc, MovingEnd - Moving
    call Copy
    ld hl, Moving
    ld de, hCode
    ld bc, MovingEnd - Moving
    call Copy
    ld a, [wFrames]
    call wCode
    call wCode + $2000
    call hCode
    ld [wMoved], a
    ret

Moving:
    add 7
    swap a
    xor $35
    ret
MovingEnd:
    assert MovingEnd - Moving <= 8, "the code fits its places"

; wTotal = (wTotal + every byte of the results) rotated left after each.
Total:
    ld hl, wTotal
    ld a, [hl+]
    ld h, [hl]
    ld l, a
    ld de, wAlu
    ld c, wTotal - wAlu
.next:
    ld a, [de]
    inc de
    add l
    ld l, a
    jr nc, .low
    inc h
.low:
    add hl, hl
    jr nc, .even
    inc l
.even:
    dec c
    jr nz, .next
    ld a, l
    ld [wTotal], a
    ld a, h
    ld [wTotal + 1], a
    ret

; By looking at LY: this CPU does not sleep.
WaitForVBlank:
    ldh a, [rLY]
    cp 144
    jr nz, WaitForVBlank
    ret

section "code in hram", hram
hCode: ds 8

section "pattern", romx[$4000], bank[1]
; Bytes without an order, from a shift register that runs in the assembler.
Pattern:
def STATE = $5A17
rept 256
    db low(STATE)
def STATE = (STATE >> 1) ^ ((STATE & 1) * $B400)
def STATE = (STATE >> 1) ^ ((STATE & 1) * $B400)
def STATE = (STATE >> 1) ^ ((STATE & 1) * $B400)
endr
