import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { PassThrough, Writable } from 'node:stream'
import type { ProgramEnd, RunningProgram } from '@hermes/contracts/environment'
import type { RemoteProcessId } from '../processes/process-record.js'
import type { RemoteCommand } from '../remote/exec-script.js'
import { killScript, OWN_START } from '../remote/kill-script.js'
import type { HostClient, RemoteHost } from '../remote/remote-host.js'
import { runScript } from '../remote/run-script.js'
import { exportLines, START_LINE, scriptLine } from '../remote/shell-text.js'
import { quote } from '../shell/command-text.js'
import { missingDirectory } from '../shell/session.js'

/** What a program over there is started with. */
interface RemoteProgram {
  readonly host: RemoteHost
  readonly client: (line: string) => HostClient
  readonly argv: readonly string[]
  readonly remote: Omit<RemoteCommand, 'command' | 'shell'>
  /** A folder over there, made when it is missing. */
  readonly scratch: string
}

/** @throws HermesError `environment.not_found` when its directory is missing, or what the host makes of its client's failure. */
export async function startRemoteProgram(launch: RemoteProgram): Promise<RunningProgram> {
  const { host, argv, remote, scratch } = launch
  await host.connect()
  const mark = randomBytes(8).toString('hex')
  const pipe = `${scratch}/program-${mark}`
  const { program, args, env } = launch.client(START_LINE)
  // A session of its own: what a terminal sends to this program is not meant for it.
  const child = spawn(program, args, { cwd: '/', env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => undefined)
  child.stdin.write(scriptLine(programScript(argv, remote, mark, pipe)))
  const exit = new Promise<number | null>((resolve) => {
    child.once('close', resolve)
    child.once('error', () => resolve(null))
  })
  const stdout = child.stdout.pipe(new PassThrough())
  const session = await started(child, mark, { ...launch, exit })
  return runningProgram(launch, { child, stdout, session, exit, pipe })
}

/**
 * The script of a program whose input goes through a pipe with a name. Its input ends when the way there is lost, too: then everything is
 * ended, unless a file beside the pipe says that the end is meant.
 */
export function programScript(
  argv: readonly string[],
  { cwd, env, inherited }: RemoteProgram['remote'],
  mark: string,
  pipe: string,
): string {
  const folder = quote(pipe.slice(0, pipe.lastIndexOf('/')))
  const [fifo, end] = [quote(pipe), quote(`${pipe}.end`)]
  return `CDPATH= cd -- ${quote(cwd)} 2>/dev/null || { echo "${mark} gone" >&2; exit 1; }
[ -d ${folder} ] || mkdir -m 700 ${folder}
mkfifo -m 600 ${fifo} || exit 1
${OWN_START}echo "${mark} $$ $__hermes_start" >&2
exec 3<&0
( trap : TERM; exec >/dev/null 2>&1
cat <&3 > ${fifo} || exit
[ ! -e ${end} ] || exit
kill -s TERM 0; sleep 1; rm -f ${fifo}; kill -s KILL 0 ) &
( exec 3<&-
${exportLines(env, inherited)}
exec ${argv.map(quote).join(' ')} ) < ${fifo}
__hermes_status=$?
trap '' TERM
kill -s TERM 0
rm -f ${fifo} ${end}
exit $__hermes_status`
}

/** Reads standard error up to the line that tells of the start; the rest of it is the program's. */
function started(
  { stderr }: ChildProcessWithoutNullStreams,
  mark: string,
  { host, remote, exit }: RemoteProgram & { readonly exit: Promise<number | null> },
): Promise<RemoteProcessId> {
  return new Promise((resolve, reject) => {
    let text = Buffer.alloc(0)
    const onData = (chunk: Buffer) => {
      text = Buffer.concat([text, chunk])
      const line = new RegExp(`${mark} (?:(gone)|(\\d+) (\\S+))\\n`).exec(text.toString('latin1'))
      if (line === null) return
      stderr.off('data', onData)
      if (line[1] !== undefined) return reject(missingDirectory(remote.cwd))
      stderr.pause()
      stderr.unshift(text.subarray(line.index + line[0].length))
      resolve({ pid: Number(line[2]), startTime: line[3]! })
    }
    stderr.on('data', onData)
    void exit.then((exitCode) => reject(host.failure(exitCode, text.toString('utf8'))))
  })
}

function runningProgram(
  { host }: RemoteProgram,
  way: {
    readonly child: ChildProcessWithoutNullStreams
    readonly stdout: PassThrough
    readonly session: RemoteProcessId
    readonly exit: Promise<number | null>
    readonly pipe: string
  },
): RunningProgram {
  const { child, stdout, session, exit, pipe } = way
  let [isKilled, hasEnded] = [false, false]
  const ended = exit.then((exitCode): ProgramEnd => {
    hasEnded = true
    return isKilled ? { exitCode: null, signal: 'SIGTERM' } : { exitCode, signal: null }
  })
  const stdin = new Writable({
    write: (chunk, _, done) => void child.stdin.write(chunk, () => done()),
    final(done) {
      const meant = hasEnded ? Promise.resolve() : runScript(host, `: > ${quote(`${pipe}.end`)}`)
      void meant.catch(() => undefined).then(() => child.stdin.end(() => done()))
    },
  })
  return {
    stdin,
    stdout,
    stderr: child.stderr.pipe(new PassThrough()),
    ended,
    async kill() {
      if (hasEnded) return
      isKilled = true
      const left = `rm -f ${quote(pipe)} ${quote(`${pipe}.end`)}`
      await runScript(host, `( ${killScript([session])} )\n${left}`).catch(() => undefined)
      child.kill()
      await ended
    },
  }
}
