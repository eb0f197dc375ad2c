import { randomBytes } from 'node:crypto'
import type { HermesError } from '@hermes/contracts'
import type { RemoteProcessId } from '../processes/process-record.js'
import { runScript } from '../remote/run-script.js'
import type { RemoteProcess } from '../shell/remote-start.js'
import { FollowedRemoteProcess, type RemoteProcessTarget } from './followed-remote-process.js'
import { awaitRemoteProcess, dropRemoteProcess, startRemoteProcess } from './remote-process-scripts.js'

/** Starts `script`, whose standard error says which process it is: `mark NUMBER TIME`. */
export async function startBackgroundRemoteProcess(
  target: Omit<RemoteProcessTarget, 'folder'>,
  {
    script,
    mark,
    failure,
  }: { readonly script: string; readonly mark: string; readonly failure: (report: string) => HermesError },
): Promise<RemoteProcess & { readonly handle: FollowedRemoteProcess }> {
  const folder = `/tmp/hermes-job-${randomBytes(8).toString('hex')}`
  const { ok, stdout, stderr } = await runScript(
    target.way,
    `${startRemoteProcess(folder, script, 'pieces')}${awaitRemoteProcess(folder)}`,
  )
  const report = stdout.toString('utf8')
  const text = new RegExp(`^${mark} (\\d+) (\\S+)$`, 'm').exec(report)
  if (!ok || !text) {
    // What is told is why it did not start.
    await runScript(target.way, dropRemoteProcess(folder)).catch(() => undefined)
    throw failure(ok ? report : stderr)
  }
  const id: RemoteProcessId = { pid: Number(text[1]), startTime: text[2]! }
  return { handle: new FollowedRemoteProcess({ ...target, folder }, id.pid), id, token: `${id.pid} ${folder}` }
}

/** Follows a job that an earlier program started; `token` is what {@link startBackgroundRemoteProcess} gave. */
export function followAgain(target: Omit<RemoteProcessTarget, 'folder'>, token: string): FollowedRemoteProcess {
  const [pid, folder = ''] = token.split(' ')
  return new FollowedRemoteProcess({ ...target, folder }, Number(pid))
}
