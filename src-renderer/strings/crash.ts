export const crash = {
  title: 'The window stopped working',
  intro:
    'It crashed several times within a minute. Your node runs on: tools still reach it, and tasks go on. The details help to find the fault.',
  details: 'Details of the crash',
  redacted: 'The details hold versions and times, and nothing of yours.',
  copy: 'Copy details',
  copied: 'Copied.',
  again: 'Open the window again',
  quit: 'Quit ANet',
} as const
