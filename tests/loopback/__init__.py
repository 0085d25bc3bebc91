"""Servers on this machine that stand for services elsewhere: SFTP, S3, a container engine, sandboxes."""
