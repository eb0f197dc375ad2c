import type { EndpointStamp } from '@hermes/contracts/conversation'

/** Whether what one endpoint made may go back to the other. */
export function sameStamp(left: EndpointStamp, right: EndpointStamp): boolean {
  return left.provider === right.provider && left.endpoint === right.endpoint && left.model === right.model
}
