import { readdir, readFile, readlink } from 'node:fs/promises'

/** A process of this machine, as /proc tells of it. */
export interface SeenProcess {
  readonly pid: number
  readonly group: number
  /** Its words, each ended by a zero byte. */
  readonly command: string
}

/** What runs, those left out that have ended and wait for their parent. */
export async function processes(): Promise<readonly SeenProcess[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const all = await Promise.all(
    pids.map(async (pid) => {
      const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
      const [, group] = /^\d+ \(.*\) [^ZX] \d+ (\d+)/.exec(stat) ?? []
      return group === undefined ? [] : [{ pid: Number(pid), group: Number(group), command }]
    }),
  )
  return all.flat()
}

/** How many sockets of a process wait for connections by TCP over IPv4; none of one that has ended. */
export async function listenersOf(pid: number): Promise<number> {
  const table = await readFile(`/proc/${pid}/net/tcp`, 'utf8').catch(() => '')
  const rows = table.split('\n').map((line) => line.trim().split(/\s+/))
  const listening = new Set(rows.filter((cells) => cells[3] === '0A').map((cells) => `socket:[${cells[9]}]`))
  const names = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const targets = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')))
  return targets.filter((target) => listening.has(target)).length
}
