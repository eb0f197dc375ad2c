import { describe, expect, it } from 'vitest'
import { awsCredential, bedrockAddress } from '../../index.js'
import { parseAwsCredential, regionOf } from './aws-credential.js'

const ID = 'AKIAIOSFODNN7EXAMPLE'

describe('parseAwsCredential', () => {
  it.each([
    [null, { type: 'none' }],
    ['', { type: 'none' }],
    ['ABSKQmVkcm9ja0FQSUtleS0xMjM=', { type: 'bearer', token: 'ABSKQmVkcm9ja0FQSUtleS0xMjM=' }],
    ['a:b', { type: 'bearer', token: 'a:b' }],
    [`${ID}:wJal/r+X=`, { type: 'keys', accessKeyId: ID, secretAccessKey: 'wJal/r+X=' }],
    [`${ID}:s:FwoG/+=`, { type: 'keys', accessKeyId: ID, secretAccessKey: 's', sessionToken: 'FwoG/+=' }],
    ['aws', { type: 'chain' }],
    ['aws:team: dev', { type: 'chain', profile: 'team: dev' }],
  ])('reads %j', (credential, expected) => {
    expect(parseAwsCredential(credential)).toEqual(expected)
  })
})

describe('awsCredential', () => {
  it('takes a Bedrock API key, else a pair of keys, else the chain', () => {
    const pair = { AWS_ACCESS_KEY_ID: ID, AWS_SECRET_ACCESS_KEY: 's' }
    expect(awsCredential({ ...pair, AWS_BEARER_TOKEN_BEDROCK: 'key' })).toBe('key')
    expect(awsCredential(pair)).toBe(`${ID}:s`)
    expect(awsCredential({ ...pair, AWS_SESSION_TOKEN: 't' })).toBe(`${ID}:s:t`)
    expect(awsCredential({ AWS_ACCESS_KEY_ID: ID, AWS_PROFILE: 'dev' })).toBe('aws:dev')
    expect(awsCredential({ AWS_BEARER_TOKEN_BEDROCK: '' })).toBe('aws')
  })
})

describe('regionOf', () => {
  it.each([
    ['https://bedrock-runtime.eu-central-1.amazonaws.com', 'eu-central-1'],
    ['https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
    ['https://vpce-1.bedrock-runtime.ap-south-1.vpce.amazonaws.com', 'ap-south-1'],
    ['http://127.0.0.1:4010/proxy', 'us-east-1'],
  ])('finds in %s the region %s', (baseUrl, region) => {
    expect(regionOf(baseUrl)).toBe(region)
  })
})

describe('bedrockAddress', () => {
  it('follows AWS_REGION, then AWS_DEFAULT_REGION', () => {
    expect(bedrockAddress({})).toBeNull()
    expect(bedrockAddress({ AWS_REGION: 'evil.example/' })).toBeNull()
    const west = { AWS_DEFAULT_REGION: 'us-west-2' }
    expect(bedrockAddress(west)).toBe('https://bedrock-runtime.us-west-2.amazonaws.com')
    expect(bedrockAddress({ ...west, AWS_REGION: 'cn-north-1' })).toBe(
      'https://bedrock-runtime.cn-north-1.amazonaws.com.cn',
    )
  })
})
