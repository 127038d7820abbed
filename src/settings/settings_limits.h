/* SPDX-License-Identifier: Apache-2.0 */
/* Every limit of the settings reader. A settings file is written by hand: the largest sample of
   Flowcept has 9 KiB, about 300 nodes and 5 levels. What is far beyond that is another file, or an
   attack, and is refused before it costs time or memory. */
#ifndef SONDE_SETTINGS_LIMITS_H
#define SONDE_SETTINGS_LIMITS_H

enum {
    SONDE__SETTINGS_FILE_BYTES = 1 << 20, /* read into memory whole: at most 1 MiB of it */
    SONDE__SETTINGS_DEPTH = 16,           /* blocks and lists inside each other */
    SONDE__SETTINGS_NODES = 10000,        /* keys, values, blocks and lists */
    SONDE__SETTINGS_ROWS = 64,        /* rows of the schema: 64 values of 32 bytes in a handle */
    SONDE__SETTINGS_BLOCKS = 32,      /* names of Flowcept's other blocks: one pointer each */
    SONDE__SETTINGS_LIST = 64,        /* names in a list; paths: SONDE_PATHS_MAX */
    SONDE__SETTINGS_ITEMS = 32,       /* blocks in a list of blocks */
    SONDE__SETTINGS_ITEM_FIELDS = 6,  /* keys of such a block */
    SONDE__SETTINGS_SHOWN_BYTES = 48, /* of a value or key, in a message */
    SONDE__SETTINGS_NAME_BYTES = 160, /* of a file's name, in a message: its end */
};

#endif
