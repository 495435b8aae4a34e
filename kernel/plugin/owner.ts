/** Who stands behind something that the kernel calls (a tap, a route, a command, a job) and answers for its failures: a plugin, or the kernel itself. */
export interface Owner {
  readonly name: string;
  /** one sentence for people */
  readonly about: string;
  /** not of this tree */
  readonly outside?: boolean;
  /** is not called */
  readonly faulty: boolean;
  /** why it is faulty, for who calls it */
  readonly why: string;
  fault(where: string, error: unknown): void;
}
