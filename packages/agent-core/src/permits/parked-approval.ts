/** Thrown when an approval stays unanswered: the run parks, the call stays open. */
export class ParkedApproval extends Error {
  readonly approvalId: string

  constructor(approvalId: string) {
    super('Nobody answered the request for approval in time, so this was not done.')
    this.approvalId = approvalId
  }
}
