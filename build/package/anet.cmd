@echo off
rem The anet command of the package.
"%~dp0anet-desktop.exe" --no-sandbox --log-level=3 --cli -- %*
