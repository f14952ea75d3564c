const quote = 0x22
const backslash = 0x5c

/**
 * Counts the values of a JSON text and how deep they nest while its bytes arrive. What a text becomes when it is parsed
 * can take up forty times its size and stop everybody for minutes: `[[],[],…`, `[[[[…`. The text need not be valid.
 */
export class JsonShape {
  /** At least one for every value but the first, and for every list and object. */
  values = 1
  /** Of the deepest place so far. */
  depth = 0
  #open = 0
  #inString = false
  /** The last byte was a backslash of a string that escapes the next one. */
  #escaping = false

  push(bytes: Buffer): void {
    let at = 0
    while (at < bytes.byteLength) at = this.#inString ? this.#string(bytes, at) : this.#outside(bytes, at)
  }

  /** Goes on to the end of the string, or of the bytes. */
  #string(bytes: Buffer, from: number): number {
    let start = from
    if (this.#escaping) {
      this.#escaping = false
      start += 1
    }
    for (let end = bytes.indexOf(quote, start); end >= 0; end = bytes.indexOf(quote, start)) {
      const isEscaped = backslashesBefore(bytes, start, end) % 2 === 1
      start = end + 1
      if (isEscaped) continue
      this.#inString = false
      return start
    }
    this.#escaping = start <= bytes.byteLength && backslashesBefore(bytes, start, bytes.byteLength) % 2 === 1
    return bytes.byteLength
  }

  /** Goes on to the beginning of the next string, or to the end of the bytes. */
  #outside(bytes: Buffer, from: number): number {
    for (let at = from; at < bytes.byteLength; at += 1) {
      switch (bytes[at]) {
        case quote:
          this.#inString = true
          return at + 1
        case 0x2c: // ,
          this.values += 1
          break
        case 0x5b: // [
        case 0x7b: // {
          this.values += 1
          this.#open += 1
          if (this.#open > this.depth) this.depth = this.#open
          break
        case 0x5d: // ]
        case 0x7d: // }
          this.#open -= 1
          break
        default:
          break
      }
    }
    return bytes.byteLength
  }
}

/** How many backslashes stand right before `end`, back to `start`. */
function backslashesBefore(bytes: Buffer, start: number, end: number): number {
  let at = end
  while (at > start && bytes[at - 1] === backslash) at -= 1
  return end - at
}
