import type { ButtonHTMLAttributes, ReactElement, ReactNode } from 'react'
import classes from './button.module.css'

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly variant?: 'primary' | 'secondary' | 'ghost' | 'danger' | 'link'
  /** 28, in forms 32, in decisions 40 pixels high. */
  readonly size?: 'normal' | 'form' | 'decision'
  readonly icon?: ReactNode
}

/** One primary button per region; the label is a verb with its object. */
export function Button({
  variant = 'secondary',
  size = 'normal',
  icon,
  children,
  className,
  ...rest
}: ButtonProps): ReactElement {
  const names = [
    classes['button'],
    classes[variant],
    classes[size],
    children === undefined ? classes['iconOnly'] : undefined,
    className,
  ]
  return (
    <button type="button" className={names.filter(Boolean).join(' ')} {...rest}>
      {icon}
      {children}
    </button>
  )
}
