; What runs before the cartridge: 256 bytes that leave the registers as a monochrome console's own boot ROM does, and vanish.
; PyBoy's own would do, but a candidate could not carry it, and it keeps an episode waiting for seconds.

title "BOOT"
cartridge "rom"
romsize 32

section "boot", rom0[$0000]
    ld sp, $FFFE
    xor a
    ldh [$00], a        ; P1
    ld a, $80
    ldh [$26], a        ; sound: on, loud, everywhere
    ld a, $77
    ldh [$24], a
    ld a, $F3
    ldh [$25], a
    ld a, $FC
    ldh [$47], a        ; BGP
    ld a, $01
    ldh [$0F], a        ; VBlank is requested
    ld a, $91
    ldh [$40], a        ; the screen on
    ld hl, $01B0
    push hl
    pop af
    ld bc, $0013
    ld de, $00D8
    ld hl, $014D
    jp Leave

; Nothing above lets an interrupt in. What level 2 puts into memory runs with this ROM in place, and is counted here.
macro count_in
    ldh a, [\1]
    inc a
    ldh [\1], a
    reti
endm

section "vblank", rom0[$0040]
    count_in $80
section "stat", rom0[$0048]
    count_in $81
section "timer", rom0[$0050]
    count_in $82
section "serial", rom0[$0058]
    count_in $83
section "joypad", rom0[$0060]
    count_in $84

section "leave", rom0[$00FE]
Leave:
    ldh [$50], a        ; A is 1; the cartridge's entry at $0100 comes next
