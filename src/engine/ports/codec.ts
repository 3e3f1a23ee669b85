/**
 * What payloads (inputs, results and checkpoint values) look like in the store: encrypted, compressed, redacted.
 * Both ways may be asynchronous. `encode` may answer another text each time (encryption with a fresh nonce);
 * `decode` must read whatever an earlier `encode` wrote, also that of older keys, and the plain JSON of jobs that
 * were enqueued before there was a codec.
 */
export interface Codec {
  /** JSON text to what is stored: a well-formed text without NUL. */
  encode(json: string): string | Promise<string>
  /** What is stored to the JSON text. Throw `PermanentFailure` where no later attempt can succeed. */
  decode(stored: string): string | Promise<string>
}
