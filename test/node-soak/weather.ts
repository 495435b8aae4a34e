// What is wrong with the way between two panels.
export interface Weather {
  /** ms that each direction takes longer */
  readonly delayMs: number;
  /** calls in a hundred that are broken off */
  readonly cut: number;
  /** calls in a hundred that the node gets twice, at once or later */
  readonly repeat: number;
  /** nothing passes, and who tries learns it at once */
  readonly isClosed: boolean;
  /** packets in a hundred that are lost; where there are namespaces */
  readonly loss: number;
}
export const FAIR: Weather = { delayMs: 0, cut: 0, repeat: 0, isClosed: false, loss: 0 };
