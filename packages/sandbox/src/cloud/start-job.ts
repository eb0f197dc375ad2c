import { randomBytes } from 'node:crypto'
import type { HermesError } from '@hermes/contracts'
import type { Job } from '../far-start.js'
import type { FarProcess } from '../process-record.js'
import { runScript } from '../remote/run-script.js'
import { FollowedJob, type JobPlace } from './followed-job.js'
import { awaitJob, dropJob, startJob } from './job-scripts.js'

/** Starts `script`, whose standard error says which process it is: `mark NUMBER TIME`. */
export async function startBackgroundJob(
  place: Omit<JobPlace, 'folder'>,
  {
    script,
    mark,
    failure,
  }: { readonly script: string; readonly mark: string; readonly failure: (report: string) => HermesError },
): Promise<Job & { readonly handle: FollowedJob }> {
  const folder = `/tmp/hermes-job-${randomBytes(8).toString('hex')}`
  const { ok, stdout, stderr } = await runScript(place.way, `${startJob(folder, script, 'pieces')}${awaitJob(folder)}`)
  const report = stdout.toString('utf8')
  const said = new RegExp(`^${mark} (\\d+) (\\S+)$`, 'm').exec(report)
  if (!ok || !said) {
    // What is told is why it did not start.
    await runScript(place.way, dropJob(folder)).catch(() => undefined)
    throw failure(ok ? report : stderr)
  }
  const id: FarProcess = { pid: Number(said[1]), startTime: said[2]! }
  return { handle: new FollowedJob({ ...place, folder }, id.pid), id, token: `${id.pid} ${folder}` }
}

/** Follows a job that an earlier program started; `token` is what {@link startBackgroundJob} gave. */
export function followAgain(place: Omit<JobPlace, 'folder'>, token: string): FollowedJob {
  const [pid, folder = ''] = token.split(' ')
  return new FollowedJob({ ...place, folder }, Number(pid))
}
