// The least a terminal program can do with a key: write it back.
process.stdin.setRawMode(true)
process.stdin.on('data', (key) => process.stdout.write(key))
process.stdout.write('ready\n')
