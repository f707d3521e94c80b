/* Records what the C library's rand() returns, and can make it return a tape instead.
 *
 * Loaded with LD_PRELOAD, so that every rand() of the process comes through here. The adapter maps `rand_tape` as a
 * structure (reference/tape.py has the same fields) and reads and writes it directly; there are no calls to make.
 * One thread only, like rand() itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#define VALUES 16
#define WATCHES 1024 /* four for each adapter in the process: lanes are as many adapters */

struct watch {
    const void *from;
    void *to;
    size_t size;
};

struct {
    int forced;            /* not 0: rand() returns `tape`, and never touches the real generator */
    int tape_length;
    int taken;             /* values asked for while forced; more than `tape_length` means that some were missing */
    int recorded;          /* values returned since the adapter last set this to 0; beyond VALUES they are only counted */
    int tape[VALUES];
    int record[VALUES];
    /* Memory copied at each call, before the caller goes on: the state in the middle of a step that draws. */
    int watched;           /* slots up to the last one in use */
    struct watch watches[WATCHES];
} rand_tape;

int rand(void) {
    static int (*real)(void);
    int value = 0;
    for (int i = 0; i < rand_tape.watched; i++) {
        if (rand_tape.watches[i].size > 0) {
            memcpy(rand_tape.watches[i].to, rand_tape.watches[i].from, rand_tape.watches[i].size);
        }
    }
    if (rand_tape.forced) {
        if (rand_tape.taken < rand_tape.tape_length) {
            value = rand_tape.tape[rand_tape.taken];
        }
        rand_tape.taken++;
    } else {
        if (real == NULL) {
            *(void **)&real = dlsym(RTLD_NEXT, "rand");
        }
        value = real();
    }
    if (rand_tape.recorded < VALUES) {
        rand_tape.record[rand_tape.recorded] = value;
    }
    rand_tape.recorded++;
    return value;
}
