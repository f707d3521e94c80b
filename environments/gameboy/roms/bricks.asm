; BRICKS: a paddle, a ball, six rows of ten bricks. Left and right move, A serves (or half a second does).
; The upper rows give 5 and 3 points a brick, the lower ones 1; three balls; a cleared wall is the next level.

title "LOCKSTEP BRICKS"
cartridge "rom"
romsize 32

include "hardware.inc"

def STATUS equ MAP_0

include "game.inc"

def ROWS    equ 6
def COLUMNS equ 10
def FIRST_ROW equ 3             ; in tiles
def WALL_TOP    equ FIRST_ROW * 8
def WALL_BOTTOM equ (FIRST_ROW + ROWS) * 8
def CEILING equ 8
def FLOOR   equ 144
def BALL    equ 4               ; pixels
def PADDLE_Y     equ 136
def PADDLE_WIDTH equ 24
def PADDLE_SPEED equ 3
def SERVE_FRAMES equ 30

def BALL_TILE   equ 1
def PADDLE_TILE equ 2           ; and 3, 4
def BRICK_TILE  equ 5           ; left and right half; two more for every two rows

section "bricks", wram[$C014]
wPaddle:   ds 1         ; x of its left edge
wBallX:    ds 1         ; the ball's upper left corner
wBallY:    ds 1
wDx:       ds 1         ; pixels a frame, signed
wDy:       ds 1
wServe:    ds 1         ; frames until the ball leaves the paddle by itself; 0: it moves
wLeft:     ds 1         ; bricks left
wRowsToDraw: ds 1       ; rows of a new wall that are not on the screen yet
wCleared:  ds 1         ; places in the map that a hit has emptied in this frame: how many, and which
wClearedAt: ds 4
wBricks:   ds ROWS * COLUMNS    ; 1: there

section "bricks", rom0
Start:
    di
    ld sp, $E000
    call GameSetup
    copy_tiles TILE_DATA + 16
    ld a, LCD_ON | TILES_8000 | OBJECTS_ON | BACKGROUND
    jp GameStart

NewGame:
    ld a, (160 - PADDLE_WIDTH) / 2
    ld [wPaddle], a
    call NewWall
    jp Serve

NewWall:
    ld hl, wBricks
    ld bc, ROWS * COLUMNS
    ld d, 1
    call Fill
    ld a, ROWS * COLUMNS
    ld [wLeft], a
    ld a, ROWS
    ld [wRowsToDraw], a
    ret

Serve:
    ld a, SERVE_FRAMES
    ld [wServe], a
    ret

Play:
    call MovePaddle
    ld a, [wServe]
    and a
    jr nz, .serving
    call MoveBall
    jr .draw
.serving:
    call HoldBall
.draw:
    jp PlaceObjects

MovePaddle:
    ld a, [wPad]
    ld b, a
    ld a, [wPaddle]
    bit 0, b
    jr z, .left
    add PADDLE_SPEED
    cp 160 - PADDLE_WIDTH
    jr c, .left
    ld a, 160 - PADDLE_WIDTH
.left:
    bit 1, b
    jr z, .done
    sub PADDLE_SPEED
    jr nc, .done
    xor a
.done:
    ld [wPaddle], a
    ret
    assert PAD_RIGHT == 1 && PAD_LEFT == 2, "bits 0 and 1"

; Before the serve the ball lies on the paddle.
HoldBall:
    ld a, [wPaddle]
    add (PADDLE_WIDTH - BALL) / 2
    ld [wBallX], a
    ld a, PADDLE_Y - BALL
    ld [wBallY], a
    ; Not before the wall is drawn.
    ld a, [wRowsToDraw]
    and a
    ret nz
    ld hl, wServe
    ld a, [wPressed]
    and PAD_A
    jr nz, .launch
    dec [hl]
    ret nz
.launch:
    ld [hl], 0
    call Speed
    cpl
    inc a
    ld [wDy], a
    ; The side is chance.
    call Random
    and 2
    dec a
    ld [wDx], a
    ld a, 5
    jp Beep

; Pixels a frame up and down: 2, and 3 from the third level on; in A.
Speed:
    ld a, [wLevel]
    cp 3
    ld a, 2
    ret c
    inc a
    ret

; Across first, then up or down: each turns round where it would end in a wall or a brick.
MoveBall:
    ld a, [wBallX]
    ld d, a
    ld a, [wDx]
    add d
    cp 160 - BALL + 1
    jr nc, .side                ; left of 0 is above it
    ld [wBallX], a
    call HitBrick
    jr nc, .across
    ld a, d
    ld [wBallX], a
.side:
    ld a, 6
    call Beep
    ld hl, wDx
    call Turn
.across:
    ld a, [wBallY]
    ld d, a
    ld a, [wDy]
    add d
    cp CEILING
    jr c, .above
    ld [wBallY], a
    call HitBrick
    jr nc, .free
    ld a, d
    ld [wBallY], a
.above:
    ld a, 6
    call Beep
    ld hl, wDy
    call Turn
.free:
    ld a, [wLeft]
    and a
    jr z, .cleared
    ld a, [wDy]
    rlca
    ret c
    ld a, [wBallY]
    cp FLOOR
    jr nc, .lost
    cp PADDLE_Y - BALL
    ret c
    cp PADDLE_Y + BALL
    ret nc
    jp HitPaddle
.lost:
    call LoseLife
    ret z
    jp Serve
.cleared:
    ld hl, wLevel
    inc [hl]
    call NewWall
    jp Serve

; The byte at HL, negated.
Turn:
    xor a
    sub [hl]
    ld [hl], a
    ret

; Where the ball meets the paddle decides how steep it leaves.
HitPaddle:
    ld a, [wPaddle]
    ld b, a
    ld a, [wBallX]
    add BALL - 1
    sub b
    ret c
    cp PADDLE_WIDTH + BALL - 1
    ret nc
    srl a
    srl a
    ld hl, Angles
    add l
    ld l, a
    jr nc, .page
    inc h
.page:
    ld a, [hl]
    ld [wDx], a
    call Speed
    cpl
    inc a
    ld [wDy], a
    ld a, PADDLE_Y - BALL
    ld [wBallY], a
    ld a, 7
    jp Beep
Angles:
    db -2, -2, -1, -1, 1, 2, 2
    assert (PADDLE_WIDTH + BALL - 2) >> 2 == 6, "seven of them"

; Carry: the ball's middle is in a brick, which is gone now. Keeps D.
HitBrick:
    ld a, [wBallY]
    add BALL / 2
    sub WALL_TOP
    ccf
    ret nc
    cp WALL_BOTTOM - WALL_TOP
    ret nc
    srl a
    srl a
    srl a
    ld b, a                     ; row
    ld a, [wBallX]
    add BALL / 2
    swap a
    and $0F
    ld c, a                     ; column
    ; HL = wBricks + 10 * row + column
    ld a, b
    add a
    add a
    add b
    add a
    add c
    add low(wBricks)
    ld l, a
    ld h, high(wBricks)
    ld a, [hl]
    and a
    ret z
    ld [hl], 0
    ld hl, wLeft
    dec [hl]
    push de
    call ClearAt
    ld a, b
    srl a
    ld hl, Points
    add l
    ld l, a
    jr nc, .page
    inc h
.page:
    ld a, [hl]
    call AddScore
    pop de
    scf
    ret
Points:
    db 5, 3, 1
    assert low(wBricks) + ROWS * COLUMNS <= $100, "one page"

; Row B and column C of the wall vanish from the map in the next VBlank. Keeps B and C.
ClearAt:
    ; DE = MAP_0 + 32 * (row + FIRST_ROW) + 2 * column
    ld a, b
    add FIRST_ROW
    swap a
    add a
    ld e, a
    ld a, b
    add FIRST_ROW
    srl a
    srl a
    srl a
    add high(MAP_0)
    ld d, a
    ld a, c
    add a
    or e
    ld e, a
    ld hl, wCleared
    ld a, [hl]
    inc [hl]
    add a
    inc a
    add l
    ld l, a
    ld [hl], e
    inc l
    ld [hl], d
    ret

; y, x, tile, attributes from B, C, D, and 0.
macro object
    ld a, b
    ld [hl+], a
    ld a, c
    ld [hl+], a
    ld a, d
    ld [hl+], a
    xor a
    ld [hl+], a
endm

; The ball and the paddle's three parts. OAM's coordinates begin 16 above and 8 left of the screen.
PlaceObjects:
    ld hl, wObjects
    ld a, [wBallY]
    add 16
    ld b, a
    ld a, [wBallX]
    add 8
    ld c, a
    ld d, BALL_TILE
    object
    ld b, PADDLE_Y + 16
    ld a, [wPaddle]
    add 8
    ld c, a
    ld e, 3
    ld d, PADDLE_TILE
.part:
    object
    ld a, c
    add 8
    ld c, a
    inc d
    dec e
    jr nz, .part
    ret

; In VBlank: what was hit vanishes; of a new wall one row a frame appears.
DrawGame:
    ld hl, wCleared
    ld a, [hl]
    and a
    jr z, .wall
    ld b, a
    ld [hl], 0
    inc l
.clear:
    ld a, [hl+]
    ld e, a
    ld a, [hl+]
    ld d, a
    xor a
    ld [de], a
    inc e
    ld [de], a
    dec b
    jr nz, .clear
.wall:
    ld hl, wRowsToDraw
    ld a, [hl]
    and a
    ret z
    dec [hl]
    dec a
    ld b, a
    ; The tile: two for every two rows.
    and %110
    add BRICK_TILE
    ld d, a
    ; HL = the row in the map
    ld a, b
    add FIRST_ROW
    swap a
    add a
    ld l, a
    ld a, b
    add FIRST_ROW
    srl a
    srl a
    srl a
    add high(MAP_0)
    ld h, a
    ld c, COLUMNS
.brick:
    ld a, d
    ld [hl+], a
    inc a
    ld [hl+], a
    dec c
    jr nz, .brick
    ret

section "tiles", rom0
Tiles:
    ; ball
    dw `.33.....
    dw `3223....
    dw `3223....
    dw `.33.....
    dw `........
    dw `........
    dw `........
    dw `........
    ; paddle
    dw `..333333
    dw `.3222222
    dw `32222222
    dw `31111111
    dw `.3111111
    dw `..333333
    dw `........
    dw `........
    dw `33333333
    dw `22222222
    dw `22222222
    dw `11111111
    dw `11111111
    dw `33333333
    dw `........
    dw `........
    dw `333333..
    dw `2222223.
    dw `22222223
    dw `11111113
    dw `1111113.
    dw `333333..
    dw `........
    dw `........
    ; bricks: dark, grey, light
    dw `33333333
    dw `33333333
    dw `33222222
    dw `33222222
    dw `33222222
    dw `33222222
    dw `33333333
    dw `........
    dw `3333333.
    dw `3333333.
    dw `2222233.
    dw `2222233.
    dw `2222233.
    dw `2222233.
    dw `3333333.
    dw `........
    dw `22222222
    dw `21111111
    dw `21111111
    dw `21111111
    dw `21111111
    dw `21111111
    dw `22222222
    dw `........
    dw `2222222.
    dw `1111112.
    dw `1111112.
    dw `1111112.
    dw `1111112.
    dw `1111112.
    dw `2222222.
    dw `........
    dw `11111111
    dw `1.......
    dw `1..1..1.
    dw `1.......
    dw `1.1..1..
    dw `1.......
    dw `11111111
    dw `........
    dw `1111111.
    dw `......1.
    dw `..1...1.
    dw `......1.
    dw `.1..1.1.
    dw `......1.
    dw `1111111.
    dw `........
TilesEnd:
