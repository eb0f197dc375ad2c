// node work.ts take|restore ROOT DIRECTORY: does one thing and tells that it begins.
import { createPermit } from '@hermes/safety'
import { createCheckpoints } from '../index.js'

const [, , what, root, directory] = process.argv as unknown as readonly string[]
const checkpoints = createCheckpoints({ directory: directory! })
process.stdout.write('begun\n')
if (what === 'take') await checkpoints.take(root!, { kind: 'manual', reason: 'test' })
else {
  const permit = createPermit({ type: 'write', path: root!, operation: 'write', backend: 'local' })
  await checkpoints.restore(permit, root!, { wanted: '1', force: true })
}
process.stdout.write('done\n')
