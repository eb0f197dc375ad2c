import { basename } from 'node:path'
import { rootOfHome } from '@hermes/config'
import type { Extension } from '@hermes/contracts/extension'

/** Adds `/profile`: which home a session works in. */
export function profileCommand({ home }: { readonly home: string }): Extension {
  return {
    name: 'profile-command',
    setup(api) {
      api.commands.add({
        name: 'profile',
        summary: 'the profile and its home',
        duringRun: 'allowed',
        needsSession: false,
        run: () => {
          const name = rootOfHome(home) === home ? 'default' : basename(home)
          return { type: 'text', text: `Profile ${name}: ${home}. Others: hermes profile list` }
        },
      })
    },
  }
}
