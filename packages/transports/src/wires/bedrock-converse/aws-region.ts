const DEFAULT_REGION = 'us-east-1'
const IN_HOST = /(?:^|\.)bedrock-runtime(?:-fips)?\.([a-z]{2,}(?:-[a-z]+)+-\d+)\./

/** The region for which requests to an address are signed: the one its host names, else `us-east-1`. */
export function regionOf(baseUrl: string): string {
  return IN_HOST.exec(new URL(baseUrl).hostname)?.[1] ?? DEFAULT_REGION
}

/** Where Bedrock answers in the region that `AWS_REGION` or `AWS_DEFAULT_REGION` names; `null` when neither is set. */
export function bedrockAddress(values: Readonly<Record<string, string | undefined>>): string | null {
  const region = values['AWS_REGION'] || values['AWS_DEFAULT_REGION']
  if (!region || !/^[a-z0-9-]+$/.test(region)) return null
  const domain = region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com'
  return `https://bedrock-runtime.${region}.${domain}`
}
