// node hold-open.mjs PATH: has the file open until it is killed.
import { openSync, writeSync } from 'node:fs'

openSync(process.argv[2], 'r')
writeSync(1, 'open\n')
setInterval(() => undefined, 1_000)
