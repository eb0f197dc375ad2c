import { createRequire } from 'node:module'
import { errorLine, HermesError } from '@hermes/contracts'

/** What a cloud is reached with. They are large and few need them, so none comes with this package. */
export type SdkName = '@daytona/sdk' | '@vercel/sandbox' | 'modal'

/** The registry has another package under the newest number of the name `modal`. */
const WANTED: Readonly<Record<SdkName, string>> = {
  '@daytona/sdk': '@daytona/sdk',
  '@vercel/sandbox': '@vercel/sandbox',
  modal: 'modal@0.11',
}

/** Whether the package is installed beside this program. */
export function isSdkInstalled(name: SdkName): boolean {
  try {
    createRequire(import.meta.url).resolve(name)
    return true
  } catch {
    return false
  }
}

/** @throws HermesError `environment.sdk_missing` when the package is not installed beside this program. */
export async function loadSdk<T>(name: SdkName): Promise<T> {
  const wanted: string = name
  try {
    return (await import(wanted)) as T
  } catch (error) {
    throw sdkMissing(name, error)
  }
}

/** The line for a package that is not there. */
export function sdkMissing(name: SdkName, cause: unknown): HermesError {
  return new HermesError(`The package ${name} is not installed. Install it beside Hermes: npm i -g ${WANTED[name]}`, {
    code: 'environment.sdk_missing',
    details: { package: name, reason: errorLine(cause) },
    cause,
  })
}
