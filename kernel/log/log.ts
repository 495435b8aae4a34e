// The log of the kernel and its plugins. The program around them decides the format and the destination.

/** error: someone must act; warn: degraded; info: state changes; debug: flow. */
export interface Log {
  debug(message: string, data?: object): void;
  info(message: string, data?: object): void;
  warn(message: string, data?: object): void;
  error(message: string, data?: object): void;
  child(bound: object): Log;
}
