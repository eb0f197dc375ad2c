import type { Extension } from '@hermes/contracts/extension'
import type { Runtime } from '../runtime.js'
import type { DoctorHome } from './finding.js'

/** Adds `/doctor`, which `hermes doctor` is too. */
export function doctorCommand(runtime: () => Runtime, home: DoctorHome): Extension {
  return {
    name: 'doctor-command',
    setup(api) {
      api.commands.add({
        name: 'doctor',
        summary: 'check the setup and say what to do',
        duringRun: 'allowed',
        needsSession: false,
        parameters: { type: 'object', properties: { offline: { type: 'boolean' } } },
        run: async ({ offline }) => {
          const { doctorFindings } = await import('./doctor.js')
          return { type: 'findings', findings: await doctorFindings(runtime(), home, { isOffline: offline === true }) }
        },
      })
    },
  }
}
