import { describe, expect, it } from 'vitest'
import { type CheckUrlOptions, checkUrl } from './check-url.js'
import { isRange } from './ip-address.js'

const rule = (url: string, options?: CheckUrlOptions) => {
  const check = checkUrl(url, options)
  return check.ok ? 'ok' : check.rule
}

describe('checkUrl', () => {
  it.each([
    ['https://example.com/a?b', 'ok'],
    ['http://8.8.8.8/', 'ok'],
    ['http://[2606:4700::1111]/', 'ok'],
    ['ftp://example.com', 'url-scheme'],
    ['file:///etc/passwd', 'url-scheme'],
    ['javascript:1', 'url-scheme'],
    ['not a url', 'bad-url'],
    ['https://user:pass@example.com', 'url-credentials'],
    ['https://user@example.com', 'url-credentials'],
    ['http://localhost', 'loopback'],
    ['http://LOCALHOST.:80', 'loopback'],
    ['http://app.localhost', 'loopback'],
    ['http://127.0.0.1', 'loopback'],
    ['http://127.1', 'loopback'],
    ['http://2130706433', 'loopback'],
    ['http://0x7f.0.0.1', 'loopback'],
    ['http://017700000001', 'loopback'],
    ['http://0.0.0.0', 'loopback'],
    ['http://[::1]', 'loopback'],
    ['http://[::]', 'loopback'],
    ['http://[::ffff:127.0.0.1]', 'loopback'],
    ['http://[64:ff9b::7f00:1]', 'loopback'],
    ['http://[2002:7f00:1::]', 'loopback'],
    ['http://１２７.0.0.1', 'loopback'],
    ['http://10.1.2.3', 'private-network'],
    ['http://172.16.0.1', 'private-network'],
    ['http://172.32.0.1', 'ok'],
    ['http://192.168.1.1', 'private-network'],
    ['http://100.64.0.1', 'private-network'],
    ['http://[fc00::1]', 'private-network'],
    ['http://[fe80::1]', 'private-network'],
    ['http://printer.local', 'private-network'],
    ['http://intranet', 'private-network'],
    ['http://169.254.169.254', 'metadata-endpoint'],
    ['http://169.254.0.1', 'metadata-endpoint'],
    ['http://169.254.42.23', 'metadata-endpoint'],
    ['http://168.63.129.16/', 'metadata-endpoint'],
    ['http://[::ffff:168.63.129.16]/', 'metadata-endpoint'],
    ['http://[2001:0:53aa:64c:0:7fff:0:1]/', 'reserved-address'],
    ['http://[2001::1]/', 'reserved-address'],
    ['http://[100::1]/', 'reserved-address'],
    ['http://0xa9fea9fe', 'metadata-endpoint'],
    ['http://[::ffff:169.254.169.254]', 'metadata-endpoint'],
    ['http://[fd00:ec2::254]', 'metadata-endpoint'],
    ['http://metadata.google.internal', 'metadata-endpoint'],
    ['http://100.100.100.200', 'metadata-endpoint'],
    ['http://224.0.0.1', 'reserved-address'],
    ['http://255.255.255.255', 'reserved-address'],
    ['http://[ff02::1]', 'reserved-address'],
  ])('%s is %s', (url, expected) => {
    expect(rule(url)).toBe(expected)
  })

  it.each([
    ['http://198.18.0.7/', 'ok'],
    ['http://198.19.255.255/', 'ok'],
    ['http://198.20.0.1/', 'ok'],
    ['http://[::ffff:198.18.0.7]/', 'ok'],
    ['http://100.64.3.4/', 'ok'],
    ['http://100.64.3.5/', 'private-network'],
    ['http://100.100.100.200/', 'metadata-endpoint'],
    ['http://[fd7a:115c:a1e0::1]/', 'ok'],
    ['http://[fd7a:115c:a1e1::1]/', 'private-network'],
    ['http://10.0.0.1/', 'private-network'],
    ['http://169.254.169.254/', 'metadata-endpoint'],
    ['http://198.51.100.1/', 'reserved-address'],
  ])('with ranges of ones own %s is %s', (url, expected) => {
    const allowRanges = [
      '198.18.0.0/15',
      '100.64.3.4',
      'fd7a:115c:a1e0::/48',
      '169.254.0.0/16',
      'nonsense',
      '10.0.0.0/129',
    ]
    expect(rule(url, { allowRanges })).toBe(expected)
    expect(allowRanges.map(isRange)).toEqual([true, true, true, true, false, false])
  })

  it('opens loopback and private networks on request, metadata never', () => {
    const all = { allowLoopback: true, allowPrivate: true }
    expect(rule('http://localhost:11434', { allowLoopback: true })).toBe('ok')
    expect(rule('http://10.0.0.1', { allowLoopback: true })).toBe('private-network')
    expect(rule('http://10.0.0.1', all)).toBe('ok')
    expect(rule('http://169.254.169.254', all)).toBe('metadata-endpoint')
  })
})
