import { expect, it } from 'vitest'
import { launchArguments } from './arguments.js'

const options = { program: '/usr/bin/chromium', folder: '/run/one', isHeaded: false, withoutSandbox: false }

it('starts Chromium so that all of its connections pass a proxy, for a folder of its own, behind a pipe and in its sandbox', () => {
  const [program, ...args] = launchArguments(options)
  expect(program).toBe('/usr/bin/chromium')
  expect(args).toEqual(
    expect.arrayContaining([
      ...['--user-data-dir=/run/one', '--remote-debugging-pipe', '--headless=new', '--no-startup-window'],
      // Loopback would pass no proxy without this.
      '--proxy-bypass-list=<-loopback>',
      // Whatever belongs to no context finds nobody.
      '--proxy-server=http://127.0.0.1:9',
      ...['--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1', '--disable-quic'],
      '--webrtc-ip-handling-policy=disable_non_proxied_udp',
      ...[
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-domain-reliability',
        '--no-pings',
      ],
    ]),
  )
  // The last of two of a name counts, so that each is there once; and none opens what the others shut.
  const names = args.map((one) => one.split('=')[0]!)
  expect(new Set(names).size).toBe(names.length)
  expect(
    names.filter((name) => /^--(?:force-|remote-debugging-port|no-sandbox|no-proxy|enable-|allow-)/.test(name)),
  ).toEqual(['--allow-pre-commit-input'])
})

it('takes the sandbox away from root alone, and shows a window only where that is chosen', () => {
  expect(launchArguments({ ...options, withoutSandbox: true })).toContain('--no-sandbox')
  expect(launchArguments({ ...options, isHeaded: true }).join(' ')).not.toContain('--headless')
})
