import { expect, it } from 'vitest'
import { isSdkInstalled, loadSdk, type SdkName } from './load-sdk.js'

it('loads a package that is installed, and says how to install one that is not', async () => {
  expect(await loadSdk<object>('modal')).toHaveProperty('ModalClient')
  const missing = '@hermes-test/not-installed' as SdkName
  expect(isSdkInstalled(missing)).toBe(false)
  await expect(loadSdk(missing)).rejects.toMatchObject({ code: 'environment.sdk_missing', retryable: false })
})
