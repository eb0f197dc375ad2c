import { expect, it } from 'vitest'
import { readMail } from './read-mail.js'

async function heardAs(result: string, from = 'owner@victim.org'): Promise<string> {
  const lines = [`Authentication-Results: mx.me; ${result}`, `From: ${from}`, 'Message-ID: <a@b>', '', 'Hello.', '']
  const mail = { source: Buffer.from(lines.join('\r\n')), isCut: false, ref: '1:1', atMs: 0 }
  const read = await readMail(mail, { account: 'hermes@mail.test', authservId: 'mx.me' })
  return read.type === 'refused' ? read.why : 'heard'
}

it.each([
  'spf=pass smtp.mailfrom="victim.org "@evil.com',
  'spf=pass smtp.mailfrom="x; dmarc=pass "@evil.com',
  'spf=pass (mx.me: domain of "x; dmarc=pass "@evil.com names this server) smtp.mailfrom=evil.com',
  'spf=pass (domain of "x); dmarc=pass ("@evil.com names this server) smtp.mailfrom=evil.com',
  'spf=pass (domain of x; dmarc=pass @evil.com) smtp.mailfrom=evil.com',
  'spf=pass (a (nested; dmarc=pass) comment; dmarc=pass) smtp.mailfrom=evil.com',
  String.raw`spf=pass smtp.mailfrom="x\"; dmarc=pass \""@evil.com`,
  String.raw`spf=pass (x\); dmarc=pass ) smtp.mailfrom=evil.com`,
  'dkim=pass header.i="victim.org "@evil.com header.d=evil.com',
  'dkim=pass header.i="@victim.org" header.d=evil.com',
  'dkim=pass header.i=@victim.org header.d=evil.com',
  'dkim=pass header.d=victim.org@evil.com',
  'dkim=pass x-header.d=victim.org header.d=evil.com',
  'dkim=pass header.d=evil.com header.d=victim.org',
  'spf=pass smtp.mailfrom=victim.org(x)@evil.com',
  'spf=pass smtp.mailfrom=victim.org(x)x=@evil.com',
  'spf=pass smtp.mailfrom=victim.org (x)@evil.com',
  'spf=pass smtp.mailfrom=victim.org" "@evil.com',
  'spf=pass smtp.mailfrom=x;dmarc=pass @evil.com',
  'spf=pass smtp.mailfrom=evil.com (; dmarc=pass',
  'spf=pass smtp.mailfrom=evil.com "; dmarc=pass',
  'spf=pass smtp.mailfrom=evil.com ); dmarc=pass',
  'spf=pass smtp.mailfrom=victim.org.evil.com',
  'spf=pass smtp.mailfrom=notvictim.org',
  'spf=pass smtp.mailfrom="victim.org" @evil.com',
  'spf=pass smtp.mailfrom="victim.org"@evil.com',
  String.raw`spf=pass smtp.mailfrom="vic\tim.org"`,
  'spf=pass smtp.mailfrom="a@victim.org"@evil.com',
  'spf=fail smtp.mailfrom=victim.org; dkim=pass/1 header.d=evil.com',
])('takes no proof from words of the sender: %s', async (result) => {
  expect(await heardAs(result)).toBe('its sender is not proven')
})

it.each([
  'dkim=pass (2048-bit key; unprotected) header.d=victim.org header.i=@victim.org header.b="aB/c+d=="',
  'dkim=pass reason="good; signature" header.d=victim.org',
  'dkim=pass header.d="victim.org"; spf=none smtp.mailfrom="x@victim.org"',
  'dmarc=none; spf=pass smtp.mailfrom="bounce@victim.org" (checked)',
  'dkim=pass header.i=@victim.org header.s=key header.b=AbC/+d=',
  'dkim = pass header.d = victim.org',
  'spf=pass (mx.me: domain of x@victim.org (a list) names 10.0.0.1) smtp.mailfrom="x y"@evil.com; dmarc=pass (p=NONE sp=NONE) header.from=victim.org',
  'spf=pass smtp.mailfrom=bounce+owner=b.org@victim.org smtp.helo=mx.victim.org',
  'spf=pass smtp.mailfrom=victim.org(checked)',
  'SPF=Pass smtp.mailfrom=Victim.ORG; dkim=none',
  'dmarc=pass action=none header.from=victim.org;compauth=pass reason=100',
])('takes what the server says: %s', async (result) => {
  expect(await heardAs(result)).toBe('heard')
})

it('takes a domain for the ones below it, and a failed check above all', async () => {
  expect(await heardAs('dkim=pass header.d=victim.org', 'a@mail.victim.org')).toBe('heard')
  expect(await heardAs('dkim=pass header.d=victim.org; dmarc=fail (p=REJECT) header.from=victim.org')).toBe(
    'its sender is made up',
  )
})
