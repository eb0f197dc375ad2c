// node --import bench/chats/watch.mjs …: writes at the end of the process the peak of its memory and how long its event loop was held, as JSON,
// to the file BENCH_WATCH_FILE. SIGWINCH begins to watch the event loop.
import { readFileSync, writeFileSync } from 'node:fs'
import { monitorEventLoopDelay } from 'node:perf_hooks'

const file = process.env.BENCH_WATCH_FILE
const delay = monitorEventLoopDelay({ resolution: 1 })

if (file) {
  process.on('SIGWINCH', () => delay.enable())
  process.on('exit', () => {
    const peakKb = Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1])
    writeFileSync(file, JSON.stringify({ peakMb: (peakKb * 1024) / 1e6, heldMs: delay.percentile(99) / 1e6 }))
  })
}
