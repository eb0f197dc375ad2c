/** Something that can be taken back. */
export interface Registration {
  /** Does nothing the second time. */
  dispose(): void
}
