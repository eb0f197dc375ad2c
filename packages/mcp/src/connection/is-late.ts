/** Whether a request was given up because nobody answered it in time. */
export async function isLate(error: unknown): Promise<boolean> {
  const { SdkErrorCode } = await import('@modelcontextprotocol/client')
  return (error as { code?: unknown }).code === SdkErrorCode.RequestTimeout
}
