/* SPDX-License-Identifier: Apache-2.0 OR BSD-2-Clause */
/*
 * Runs a few instructions with all registers given, rsp and flags included, and stores what they left. Nothing is written
 * below the given rsp, unlike by a call. System V, ELF. The offsets are those of tests::CpuState in trampoline.hpp, which
 * asserts them.
 */
#if defined(__x86_64__) && defined(__ELF__)

        .intel_syntax noprefix

        .set AT_VECTOR, 0          /* 32 of 64 bytes */
        .set AT_MASK, 2048         /* 8 of 8 */
        .set AT_GENERAL, 2112      /* 16 of 8, in the order of their encoding: rax rcx rdx rbx rsp rbp rsi rdi r8 ... */
        .set AT_FLAGS, 2240

        .local  code, left, own_stack, first_rax, vector_level
        .comm   code, 8, 8
        .comm   left, 8, 8
        .comm   own_stack, 8, 8
        .comm   first_rax, 8, 8
        .comm   vector_level, 4, 4

        .text

/*
 * void stitchgcm_test_run(const void *code, const CpuState *before, CpuState *after, int vector_level)
 *
 * The code ends with a jump to stitchgcm_test_run_end. vector_level: 0 only xmm0-15, 1 ymm0-15, 2 zmm0-31 and k0-7.
 */
        .globl  stitchgcm_test_run, stitchgcm_test_run_end
        .hidden stitchgcm_test_run, stitchgcm_test_run_end
        .type   stitchgcm_test_run, @function
        .p2align 4
stitchgcm_test_run:
        endbr64
        push    rbx
        push    rbp
        push    r12
        push    r13
        push    r14
        push    r15
        mov     [rip + code], rdi
        mov     [rip + left], rdx
        mov     [rip + vector_level], ecx
        mov     [rip + own_stack], rsp

        cmp     ecx, 1
        je      .Lload_ymm
        ja      .Lload_zmm
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movups  xmm\n, [rsi + AT_VECTOR + 64 * \n]
        .endr
        jmp     .Lload_general
.Lload_zmm:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovdqu64 zmm\n, [rsi + AT_VECTOR + 64 * \n]
        .endr
        .irp    n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        vmovdqu64 zmm\n, [rsi + AT_VECTOR + 64 * \n]
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        kmovq   k\n, [rsi + AT_MASK + 8 * \n]
        .endr
        jmp     .Lload_general
.Lload_ymm:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovdqu ymm\n, [rsi + AT_VECTOR + 64 * \n]
        .endr
.Lload_general:
        push    qword ptr [rsi + AT_FLAGS]
        popfq
        mov     rax, [rsi + AT_GENERAL]
        mov     rcx, [rsi + AT_GENERAL + 1 * 8]
        mov     rdx, [rsi + AT_GENERAL + 2 * 8]
        mov     rbx, [rsi + AT_GENERAL + 3 * 8]
        mov     rsp, [rsi + AT_GENERAL + 4 * 8]
        mov     rbp, [rsi + AT_GENERAL + 5 * 8]
        mov     rdi, [rsi + AT_GENERAL + 7 * 8]
        mov     r8, [rsi + AT_GENERAL + 8 * 8]
        mov     r9, [rsi + AT_GENERAL + 9 * 8]
        mov     r10, [rsi + AT_GENERAL + 10 * 8]
        mov     r11, [rsi + AT_GENERAL + 11 * 8]
        mov     r12, [rsi + AT_GENERAL + 12 * 8]
        mov     r13, [rsi + AT_GENERAL + 13 * 8]
        mov     r14, [rsi + AT_GENERAL + 14 * 8]
        mov     r15, [rsi + AT_GENERAL + 15 * 8]
        mov     rsi, [rsi + AT_GENERAL + 6 * 8]
        jmp     [rip + code]

stitchgcm_test_run_end:
        endbr64
        mov     [rip + first_rax], rax
        mov     rax, [rip + left]
        mov     [rax + AT_GENERAL + 1 * 8], rcx
        mov     [rax + AT_GENERAL + 2 * 8], rdx
        mov     [rax + AT_GENERAL + 3 * 8], rbx
        mov     [rax + AT_GENERAL + 4 * 8], rsp
        mov     [rax + AT_GENERAL + 5 * 8], rbp
        mov     [rax + AT_GENERAL + 6 * 8], rsi
        mov     [rax + AT_GENERAL + 7 * 8], rdi
        mov     [rax + AT_GENERAL + 8 * 8], r8
        mov     [rax + AT_GENERAL + 9 * 8], r9
        mov     [rax + AT_GENERAL + 10 * 8], r10
        mov     [rax + AT_GENERAL + 11 * 8], r11
        mov     [rax + AT_GENERAL + 12 * 8], r12
        mov     [rax + AT_GENERAL + 13 * 8], r13
        mov     [rax + AT_GENERAL + 14 * 8], r14
        mov     [rax + AT_GENERAL + 15 * 8], r15
        mov     rcx, [rip + first_rax]
        mov     [rax + AT_GENERAL], rcx
        mov     rsp, [rip + own_stack]
        pushfq
        pop     qword ptr [rax + AT_FLAGS]
        cld

        cmp     dword ptr [rip + vector_level], 1
        je      .Lstore_ymm
        ja      .Lstore_zmm
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movups  [rax + AT_VECTOR + 64 * \n], xmm\n
        .endr
        jmp     .Lreturn
.Lstore_zmm:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovdqu64 [rax + AT_VECTOR + 64 * \n], zmm\n
        .endr
        .irp    n, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
        vmovdqu64 [rax + AT_VECTOR + 64 * \n], zmm\n
        .endr
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7
        kmovq   [rax + AT_MASK + 8 * \n], k\n
        .endr
        vzeroupper
        jmp     .Lreturn
.Lstore_ymm:
        .irp    n, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        vmovdqu [rax + AT_VECTOR + 64 * \n], ymm\n
        .endr
        vzeroupper
.Lreturn:
        pop     r15
        pop     r14
        pop     r13
        pop     r12
        pop     rbp
        pop     rbx
        ret
        .size   stitchgcm_test_run, . - stitchgcm_test_run

        .section .note.gnu.property, "a", @note
        .p2align 3
        .long   4, 16, 5
        .asciz  "GNU"
        .long   0xc0000002, 4, 3, 0

        .section .note.GNU-stack, "", @progbits
#endif
