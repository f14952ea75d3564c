import type { Message } from './types.ts'

/** The text parts of a message, a line each; a file is named by its name. For summaries, not for parsing. */
export function messageText(message: Pick<Message, 'parts'>): string {
  return message.parts
    .map((part) => part.text ?? part.filename ?? '')
    .filter((text) => text !== '')
    .join('\n')
}
