import { expect, it } from 'vitest'
import { launchdAgent, launchdLabel, type Service, serviceName, systemdUnit } from './definitions.js'

const ODD = 'a "b" 100% $HOME \\ <c> & d'
const service = (over: Partial<Service> = {}): Service => ({
  name: 'hermes-gateway',
  home: '/home/ada/.hermes',
  cwd: '/tmp',
  command: [process.execPath, '/opt/hermes/bin.js', 'gateway', 'run', '--base-url', ODD],
  variables: { HERMES_HOME: '/home/ada/.hermes', LANG: ODD },
  stopSeconds: 90,
  ...over,
})

it('has a name of its own for each home', () => {
  const userHome = '/home/ada'
  const names = [
    serviceName({ home: '/home/ada/.hermes', userHome }),
    serviceName({ home: '/home/ada/.hermes/profiles/work', userHome, profile: 'work' }),
    serviceName({ home: '/srv/one', userHome }),
    serviceName({ home: '/srv/two', userHome, profile: '../two' }),
  ]
  expect(names.slice(0, 2)).toEqual(['hermes-gateway', 'hermes-gateway-work'])
  expect(new Set(names).size).toBe(4)
  for (const name of names) expect(name).toMatch(/^[\w-]+$/)
})

it('keeps every word as it is for launchd, and starts again after all that is no success', () => {
  const text = launchdAgent(service())
  const strings = [...text.matchAll(/<string>([^<]*)<\/string>/g)].map(([, word]) =>
    word!.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
  )
  expect(strings).toEqual(expect.arrayContaining([...service().command, ODD, launchdLabel('hermes-gateway')]))
  expect(text).toMatch(/<key>KeepAlive<\/key><dict>\s*<key>SuccessfulExit<\/key><false\/>\s*<\/dict>/)
  // Every element that is opened is closed, in order, and keys and values take turns in a dict.
  const open: string[] = []
  for (const [, close, tag, single] of text
    .replace(/^<\?xml.*\n<!DOCTYPE.*\n/, '')
    .matchAll(/<(\/?)(\w+)[^>]*?(\/?)>/g)) {
    if (single) continue
    if (close) expect(open.pop()).toBe(tag)
    else open.push(tag!)
  }
  expect(open).toEqual([])
})

it('is started again by systemd after 75, and not after what only a person can mend', () => {
  expect(systemdUnit(service())).toMatch(/^RestartForceExitStatus=75\nRestartPreventExitStatus=2 78$/m)
})
