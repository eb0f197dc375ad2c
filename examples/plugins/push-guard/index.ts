import type { Extension } from '@hermes/contracts/extension'

/** Why a command is not to run; nothing where it may. */
export function objection(command: string): string | undefined {
  return /\bgit\s+push\b.*--force\b/.test(command)
    ? 'Force pushes are not made here; use --force-with-lease.'
    : undefined
}

const extension: Extension = {
  name: 'push-guard',
  setup(api) {
    // A gate that throws or takes too long objects, too.
    api.hooks.on('before-tool-call', ({ tool, args }) => {
      const reason = tool.name === 'terminal' ? objection(String(args['command'])) : undefined
      return reason === undefined ? undefined : { type: 'block', reason }
    })
  },
}
export default extension
