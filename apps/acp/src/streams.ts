import type { Io, Output } from '@hermes/runtime/app'

/** Standard input as a web stream; a broken pipe counts as its end. */
export function toReadable(stdin: Io['stdin']): ReadableStream<Uint8Array> {
  // Once nobody reads any more nothing is closed: the end of the input comes while sessions are being kept.
  let isOpen = true
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const end = () => {
        if (isOpen) controller.close()
        isOpen = false
      }
      stdin.on('data', (chunk: Uint8Array) => {
        if (isOpen) controller.enqueue(chunk)
      })
      stdin.once('end', end).once('error', end).once('close', end)
    },
    cancel() {
      isOpen = false
      stdin.pause()
    },
  })
}

/** Standard output as a web stream. Each chunk is whole messages. */
export function toWritable(stdout: Output): WritableStream<Uint8Array> {
  const decoder = new TextDecoder()
  return new WritableStream<Uint8Array>({ write: (chunk) => stdout.write(decoder.decode(chunk)) })
}
