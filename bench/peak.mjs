// node --import bench/peak.mjs …: writes the peak memory of the process, in bytes, to the file BENCH_PEAK_FILE when it ends.
import { readFileSync, writeFileSync } from 'node:fs'

const file = process.env.BENCH_PEAK_FILE

process.on('exit', () => {
  if (file) writeFileSync(file, String(peakBytes()))
})

/** On Linux not getrusage: its figure survives exec and so counts the process that started this one. */
function peakBytes() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024
  const status = readFileSync('/proc/self/status', 'utf8')
  return Number(/VmHWM:\s+(\d+) kB/.exec(status)[1]) * 1024
}
