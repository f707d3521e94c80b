; METEORS: a ship that dodges what falls. The pad moves it; a meteor that passes gives a point, a star that is caught
; five. Three hits end the game; after each the ship can't be hit for a second and a half. Every sixteen points is the
; next level: more meteors, and faster ones.

title "LOCKSTEP METEORS"
cartridge "rom"
romsize 32

include "hardware.inc"

def STATUS equ MAP_1            ; the window's only visible row: the background scrolls

include "game.inc"

def MOST_METEORS equ 16
def STAR_POINTS  equ 5
def SAFE_FRAMES  equ 90
def SHIP_SPEED   equ 2
def SHIP_TOP     equ 64         ; OAM's coordinates, as everything below: 16 above and 8 left of the screen
def SHIP_BOTTOM  equ 142
def SHIP_LEFT    equ 8
def SHIP_RIGHT   equ 152
def GONE         equ 152        ; behind the status line
def REACH        equ 6          ; nearer than this is a hit, in both directions

def SHIP_TILE   equ 1
def METEOR_TILE equ 2           ; and 3
def STAR_TILE   equ 4
def DUST_TILE   equ 5           ; and 6

section "meteors", wram[$C014]
wShipX:   ds 1
wShipY:   ds 1
wSafe:    ds 1                  ; frames in which nothing hits
wMeteors: ds 1                  ; how many fall
wStar:    ds 3                  ; y (0: none), x, frames until the next one
wPassed:  ds 1                  ; points towards the next level
wFall:    ds 4 * MOST_METEORS   ; y, x, speed, tile; y and speed 0: waits above the screen

section "meteors", rom0
Start:
    di
    ld sp, $E000
    call GameSetup
    copy_tiles TILE_DATA + 16
    call DrawSky
    ld a, 7
    ldh [rWX], a
    ld a, 136
    ldh [rWY], a
    ld a, LCD_ON | TILES_8000 | OBJECTS_ON | BACKGROUND | WINDOW_ON | WINDOW_9C00
    jp GameStart

; Dust here and there, the same in every game: only what can hit depends on chance.
DrawSky:
    ld hl, MAP_0
    ld c, 0
.cell:
    ld a, c
    add 37
    ld c, a
    ld b, 0
    cp 20
    jr nc, .empty
    and 1
    add DUST_TILE
    ld b, a
.empty:
    ld a, l
    and $1F
    jr nz, .same
    inc c
.same:
    ld a, b
    ld [hl+], a
    ld a, h
    cp high(MAP_1)
    jr nz, .cell
    ret

NewGame:
    ld a, (SHIP_LEFT + SHIP_RIGHT) / 2
    ld [wShipX], a
    ld a, SHIP_BOTTOM
    ld [wShipY], a
    xor a
    ld [wSafe], a
    ld [wStar], a
    ld [wPassed], a
    ld a, 120
    ld [wStar + 2], a
    ld a, 5
    ld [wMeteors], a
    ld hl, wFall
    ld bc, 4 * MOST_METEORS
    ld d, 0
    call Fill
    ld hl, wObjects
    ld bc, 160
    ld d, 0
    jp Fill

Play:
    call MoveShip
    call Fall
    call MoveStar
    jp PlaceShip

MoveShip:
    ld a, [wPad]
    ld b, a
    ld a, [wShipX]
    bit 0, b
    jr z, .left
    add SHIP_SPEED
    cp SHIP_RIGHT
    jr c, .left
    ld a, SHIP_RIGHT
.left:
    bit 1, b
    jr z, .across
    sub SHIP_SPEED
    cp SHIP_LEFT
    jr nc, .across
    ld a, SHIP_LEFT
.across:
    ld [wShipX], a
    ld a, [wShipY]
    bit 3, b
    jr z, .up
    add SHIP_SPEED
    cp SHIP_BOTTOM
    jr c, .up
    ld a, SHIP_BOTTOM
.up:
    bit 2, b
    jr z, .done
    sub SHIP_SPEED
    cp SHIP_TOP
    jr nc, .done
    ld a, SHIP_TOP
.done:
    ld [wShipY], a
    ld hl, wSafe
    ld a, [hl]
    and a
    ret z
    dec [hl]
    ret
    assert PAD_RIGHT == 1 && PAD_LEFT == 2 && PAD_UP == 4 && PAD_DOWN == 8, "bits 0 to 3"

; All meteors: new ones begin, the others fall, hit or pass. DE goes through them, HL through their objects.
Fall:
    ld de, wFall
    ld hl, wObjects + 8
    ld a, [wMeteors]
    ld c, a
.next:
    ld a, [de]
    and a
    call z, NewMeteor
    push de
    ld a, [de]
    ld b, a
    inc e
    inc e
    ld a, [de]
    add b
    pop de
    cp GONE
    jr c, .falls
    call Passed
    ; y and speed 0: it waits for its next beginning.
    xor a
    ld [de], a
    inc e
    inc e
    ld [de], a
    dec e
    dec e
    jr .moved
.falls:
    ld [de], a
.moved:
    ; The object is as the meteor, but for the speed.
    ld [hl+], a
    ld b, a
    inc e
    ld a, [de]
    ld [hl+], a
    inc e
    inc e
    ld a, [de]
    ld [hl+], a
    inc l
    dec e
    dec e
    dec e
    ; B is the meteor's y
    call Hit
    ld a, e
    add 4
    ld e, a
    dec c
    jr nz, .next
    ret
    assert low(wFall) + 4 * MOST_METEORS <= $100, "one page"

; The meteor at DE begins above the screen. Most wait a while, so that they come one by one. Keeps BC, DE, HL.
NewMeteor:
    call Random
    and $1F
    ret nz
    push de
    ld a, 1
    ld [de], a
    inc e
    call RandomX
    ld [de], a
    inc e
    ; 1 or 2, and one more with every fourth level
    push bc
    ld a, [wLevel]
    rrca
    rrca
    and 3
    ld b, a
    call Random
    and 1
    inc a
    add b
    pop bc
    ld [de], a
    inc e
    call Random
    and 1
    add METEOR_TILE
    ld [de], a
    pop de
    ret

; A place across the screen, in A.
RandomX:
    push bc
    call Random
    and $7F
    ld b, a
    call Random
    and $0F
    add b
    add SHIP_LEFT
    pop bc
    ret

; A point for the meteor that is gone. Keeps BC, DE, HL.
Passed:
    push bc
    push de
    push hl
    ld a, 1
    call Point
    pop hl
    pop de
    pop bc
    ret

; A points, which count towards the next level.
Point:
    push af
    call AddScore
    pop af
    ld hl, wPassed
    add [hl]
    cp 16
    jr c, .store
    sub 16
    ld [hl], a
    ld hl, wLevel
    ld a, [hl]
    cp 9
    ret nc
    inc [hl]
    ld hl, wMeteors
    ld a, [hl]
    cp MOST_METEORS - 1
    ret nc
    inc [hl]
    inc [hl]
    ret
.store:
    ld [hl], a
    ret

; near A, B: carry if they differ by less than REACH. Changes A.
Near:
    sub b
    jr nc, .positive
    cpl
    inc a
.positive:
    cp REACH
    ret

; Does what is at y B and x [DE + 1] hit the ship? Keeps C, DE, HL.
Hit:
    ld a, [wSafe]
    and a
    ret nz
    ld a, [wState]
    cp PLAYING
    ret nz
    ld a, [wShipY]
    call Near
    ret nc
    inc e
    ld a, [de]
    dec e
    ld b, a
    ld a, [wShipX]
    call Near
    ret nc
    push bc
    push de
    push hl
    ld a, SAFE_FRAMES
    ld [wSafe], a
    call LoseLife
    pop hl
    pop de
    pop bc
    ret

; A star falls every few seconds; catching it is worth the way.
MoveStar:
    ld hl, wStar
    ld a, [hl]
    and a
    jr nz, .falls
    ld hl, wStar + 2
    dec [hl]
    jr nz, .place
    call RandomX
    ld [wStar + 1], a
    ld a, 1
    ld [wStar], a
    jr .place
.falls:
    inc [hl]
    ld a, [hl]
    cp GONE
    jr nc, .gone
    ld b, a
    ld a, [wShipY]
    call Near
    jr nc, .place
    ld a, [wStar + 1]
    ld b, a
    ld a, [wShipX]
    call Near
    jr nc, .place
    ld a, STAR_POINTS
    call Point
    ld a, 7
    call Beep
.gone:
    xor a
    ld [wStar], a
    call Random
    or $80
    ld [wStar + 2], a
.place:
    ld hl, wObjects + 4
    ld a, [wStar]
    ld [hl+], a
    ld a, [wStar + 1]
    ld [hl+], a
    ld [hl], STAR_TILE
    ret

; The ship blinks while it is safe: y 0 is nowhere.
PlaceShip:
    ld hl, wObjects
    ld a, [wSafe]
    and 4
    ld a, 0
    jr nz, .hidden
    ld a, [wShipY]
.hidden:
    ld [hl+], a
    ld a, [wShipX]
    ld [hl+], a
    ld [hl], SHIP_TILE
    ret

; The sky passes while the game goes on.
DrawGame:
    ld a, [wState]
    cp PLAYING
    ret nz
    ldh a, [rSCY]
    dec a
    ldh [rSCY], a
    ret

section "tiles", rom0
Tiles:
    ; ship
    dw `...33...
    dw `...33...
    dw `..3113..
    dw `..3113..
    dw `.321123.
    dw `32222223
    dw `3.3223.3
    dw `...11...
    ; meteors
    dw `..3333..
    dw `.322223.
    dw `32211223
    dw `32112223
    dw `32222323
    dw `32322223
    dw `.322223.
    dw `..3333..
    dw `.333....
    dw `32223333
    dw `32112223
    dw `.3212223
    dw `.3222323
    dw `32232223
    dw `32222233
    dw `.33333..
    ; star
    dw `...3....
    dw `...33...
    dw `..313...
    dw `33311333
    dw `.311113.
    dw `..3113..
    dw `.313313.
    dw `.33..33.
    ; dust
    dw `........
    dw `..1.....
    dw `........
    dw `........
    dw `......1.
    dw `........
    dw `........
    dw `........
    dw `........
    dw `........
    dw `....1...
    dw `...121..
    dw `....1...
    dw `........
    dw `........
    dw `........
TilesEnd:
