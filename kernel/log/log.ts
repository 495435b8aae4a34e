// What the kernel and its plugins write to. How a line looks and where it goes is the business of the program around them.

/** error: a person must act; warn: degraded; info: state changes; debug: flow. */
export interface Log {
  debug(message: string, data?: object): void;
  info(message: string, data?: object): void;
  warn(message: string, data?: object): void;
  error(message: string, data?: object): void;
  child(bound: object): Log;
}
